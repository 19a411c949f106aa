import { cursorsOf, type StateCheck } from "@refmcp/boundary/answer";
import type { Call } from "../define/call.ts";
import type { ResourceContents } from "../define/content.ts";
import type { OptionTable } from "../define/options.ts";
import type {
  Completer,
  ListedResource,
  Resource,
  ResourceBody,
  ResourceOutline,
  ResourcePage,
  ResourcePart,
  Unwatch,
} from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import { describeError, invalidParams, ProtocolError, resourceNotFound } from "../engine/errors.ts";
import { asUri, MAX_URI_CHARS, show } from "../engine/message.ts";
import type { ClientRequest } from "../engine/request.ts";
import type { ReadResourceResult } from "../engine/wire.ts";
import { runHandler } from "./call.ts";
import { resourceOutline } from "./listing.ts";
import { InputRequired } from "./questions/questions.ts";
import type { Runtime } from "./runtime.ts";

interface Entry<Context> {
  readonly facts: ResourceOutline;
  /** Only for a template. */
  readonly matcher: UriMatcher | undefined;
  load(): Awaitable<Resource<Context>>;
}

/** A URI's resource, ready to be read or watched. */
interface Found<Context> {
  readonly mimeType: string | undefined;
  read(context: Context, call: Call): Awaitable<ResourceBody>;
  watch(context: Context, changed: () => void, call: Call): Awaitable<Unwatch> | undefined;
}

/** All resources of a server: finds one by its URI, lists them in pages, completes template variables. */
export class Resources<Context> {
  readonly #runtime: Runtime<Context, OptionTable>;
  readonly #fixed: readonly Entry<Context>[];
  readonly #families: readonly Entry<Context>[];

  constructor(runtime: Runtime<Context, OptionTable>) {
    this.#runtime = runtime;
    const entries = runtime.resources.map((resource): Entry<Context> => {
      const facts = resourceOutline(resource);
      const matcher =
        facts.uriTemplate === undefined ? undefined : compileTemplate(facts.uriTemplate);
      return { facts, matcher, load: () => ("load" in resource ? resource.load() : resource) };
    });
    this.#fixed = entries.filter(({ matcher }) => matcher === undefined);
    this.#families = entries.filter(({ matcher }) => matcher !== undefined);
  }

  get canWatch(): boolean {
    return [...this.#fixed, ...this.#families].some(({ facts }) => facts.watches);
  }

  /** The resource behind a URI. @throws ProtocolError -32602 if no definition fits. */
  async #find(uri: string): Promise<Found<Context>> {
    for (const { facts, matcher, load } of [...this.#fixed, ...this.#families]) {
      const variables = facts.uri === uri ? {} : matcher?.match(uri);
      if (variables === undefined) continue;
      const { mimeType } = facts;
      const resource = await load();
      if ("uri" in resource)
        return {
          mimeType,
          read: (context, call) => resource.read(context, call),
          watch: (context, changed, call) => resource.watch?.(context, changed, call),
        };
      return {
        mimeType,
        read: (context, call) => resource.read(variables, context, call, uri),
        watch: (context, changed, call) => resource.watch?.(variables, context, changed, call),
      };
    }
    throw resourceNotFound(uri);
  }

  templates(): object[] {
    return this.#families.map(
      ({ facts: { uriTemplate, name, title, description, mimeType, annotations } }) => {
        return { uriTemplate, name, title, description, mimeType, annotations };
      },
    );
  }

  async completer(uriTemplate: string, variable: string): Promise<Completer<Context> | undefined> {
    const family = this.#families.find(({ facts }) => facts.uriTemplate === uriTemplate);
    if (family === undefined)
      throw new ProtocolError(invalidParams(`Unknown resource template ${show(uriTemplate)}`));
    if (!family.facts.completes.includes(variable)) return undefined;
    const resource = await family.load();
    const complete: Readonly<Record<string, Completer<Context> | undefined>> =
      ("complete" in resource ? resource.complete : undefined) ?? {};
    return complete[variable];
  }

  /** One page of the list: the fixed ones first, then those that each template lists. */
  async list(
    request: ClientRequest,
  ): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
    const { cursor } = request.params;
    const cursors = cursorsOf("resources/list", [], pageState);
    const lists = this.#families.filter(({ facts }) => facts.lists);
    const start = cursors.decode(typeof cursor === "string" ? cursor : undefined);
    const [at, inner] = start ?? [0, undefined];
    const resources: ListedResource[] =
      start !== undefined
        ? []
        : this.#fixed.map(
            ({ facts: { uri = "", name, title, description, mimeType, annotations } }) => {
              return { uri, name, title, description, mimeType, annotations };
            },
          );
    const family = lists[at];
    const page =
      family === undefined
        ? undefined
        : await runAlone(this.#runtime, request, async (context, call): Promise<ResourcePage> => {
            const resource = await family.load();
            return (
              ("list" in resource && (await resource.list?.(context, inner, call))) || {
                resources: [],
              }
            );
          });
    resources.push(...(page?.resources ?? []));
    const next: [number, string | undefined] | undefined =
      page?.nextCursor !== undefined
        ? [at, page.nextCursor]
        : at + 1 < lists.length
          ? [at + 1, undefined]
          : undefined;
    return { resources, ...(next === undefined ? {} : { nextCursor: cursors.encode(next) }) };
  }

  async read(request: ClientRequest): Promise<ReadResourceResult | InputRequired> {
    const uri = asUri(String(request.params.uri));
    const found = await this.#find(uri);
    const body = await runHandler(
      this.#runtime,
      request,
      () => uri,
      (context, call) => found.read(context, call),
    );
    if (body instanceof InputRequired) return body;
    return { contents: partsOf(body).map((part) => contentOf(part, uri, found.mimeType)) };
  }

  /**
   * Starts watching a URI for `resources/subscribe` or `subscriptions/listen`.
   *
   * @returns a function that stops it; undefined if nothing with that URI can be watched.
   */
  async watch(
    uri: string,
    changed: () => void,
    request: ClientRequest,
  ): Promise<Unwatch | undefined> {
    const found = await this.#find(uri);
    let begun: Awaitable<Unwatch> | undefined;
    try {
      return await runAlone(this.#runtime, request, (context, call) => {
        begun = found.watch(context, changed, call);
        return begun;
      });
    } catch (error) {
      // Cancelled or timed out: stop whatever it still starts.
      void Promise.resolve(begun)
        .then((stop) => stop?.())
        .catch((late: unknown) =>
          this.#runtime.log.debug(`watching ${uri}: ${describeError(late)}`),
        );
      throw error;
    }
  }
}

/** Which template's list comes next, and its own cursor. */
const pageState: StateCheck<[number, string | undefined]> = {
  safeParse(value) {
    const [at, inner]: unknown[] = Array.isArray(value) ? value : [];
    const isInner = inner === undefined || inner === null || typeof inner === "string";
    return Number.isSafeInteger(at) && Number(at) >= 0 && isInner
      ? { success: true, data: [Number(at), inner ?? undefined] }
      : { success: false };
  },
};

/** Runs a handler for a request that cannot end with questions to the client. */
export async function runAlone<Context, Value>(
  runtime: Runtime<Context, OptionTable>,
  request: ClientRequest,
  handler: (context: Context, call: Call) => Awaitable<Value>,
): Promise<Value> {
  const value = await runHandler(runtime, request, () => "", handler);
  if (value instanceof InputRequired)
    throw new TypeError(`${request.method} cannot send requests to the client`);
  return value;
}

function partsOf(body: ResourceBody): readonly ResourcePart[] {
  if (typeof body === "string") return [{ text: body }];
  if (body instanceof Uint8Array) return [{ blob: body }];
  return isParts(body) ? body : [body];
}

function isParts(body: ResourcePart | readonly ResourcePart[]): body is readonly ResourcePart[] {
  return Array.isArray(body);
}

function contentOf(
  part: ResourcePart,
  uri: string,
  mimeType: string | undefined,
): ResourceContents {
  const type = part.mimeType ?? mimeType;
  const facts = { uri: asUri(part.uri ?? uri), ...(type === undefined ? {} : { mimeType: type }) };
  if ("text" in part) return { ...facts, text: part.text.toWellFormed() };
  const { buffer, byteOffset, byteLength } = part.blob;
  return { ...facts, blob: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

/** Matches URIs against a template (RFC 6570: `{x}`, `{+x}`, `{?x,y}`) and lists its variables. */
interface UriMatcher {
  readonly variables: readonly string[];
  /** The percent-decoded values, or undefined if the URI does not match. */
  match(uri: string): Record<string, string> | undefined;
}

/**
 * Compiles a template. `{x}` matches one path segment, `{+x}` anything, `{?x,y}` optional query parameters in any
 * order.
 *
 * @throws TypeError for a template with another operator, which is not supported.
 */
export function compileTemplate(template: string): UriMatcher {
  const variables: string[] = [];
  const queryNames: string[] = [];
  let pattern = "";
  let rest = template;
  for (let found = /\{([^}]*)\}/.exec(rest); found !== null; found = /\{([^}]*)\}/.exec(rest)) {
    const expression = found[1] ?? "";
    pattern += escaped(rest.slice(0, found.index));
    if (expression.startsWith("?")) {
      const names = expression.slice(1).split(",");
      queryNames.push(...names);
    } else {
      const [, operator, name] = /^(\+?)(\w+)$/.exec(expression) ?? [];
      if (name === undefined)
        throw new TypeError(`Unknown expression {${expression}} in the URI template ${template}`);
      variables.push(name);
      pattern += operator === "+" ? "(.+)" : "([^/?#]+)";
    }
    rest = rest.slice(found.index + found[0].length);
  }
  const matcher = new RegExp(`^${pattern}${escaped(rest)}$`, "s");
  return {
    variables: [...variables, ...queryNames],
    match(uri) {
      if (uri.length > MAX_URI_CHARS) return undefined;
      const queryAt = queryNames.length === 0 ? -1 : uri.indexOf("?");
      const found = matcher.exec(queryAt === -1 ? uri : uri.slice(0, queryAt));
      if (found === null) return undefined;
      const values: Record<string, string> = {};
      for (const [index, name] of variables.entries()) {
        const value = decoded(found[index + 1] ?? "");
        if (value === undefined) return undefined;
        values[name] = value;
      }
      if (queryAt !== -1) {
        const query = new URLSearchParams(uri.slice(queryAt + 1));
        for (const name of queryNames) {
          const value = query.get(name);
          if (value !== null) values[name] = value;
        }
      }
      return values;
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Percent-decoded, or undefined for a broken encoding. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
