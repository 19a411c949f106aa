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
  ResourcePart,
  Unwatch,
} from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import { describeError, invalidParams, ProtocolError, resourceNotFound } from "../engine/errors.ts";
import { asUri, MAX_URI_CHARS, show } from "../engine/message.ts";
import type { ClientRequest } from "../engine/request.ts";
import type { ReadResourceResult } from "../engine/wire.ts";
import { runHandler } from "./call.ts";
import { InputRequired } from "./questions.ts";
import type { Runtime } from "./runtime.ts";
import { codeOf } from "./tool.ts";

interface Entry {
  readonly outline: ResourceOutline;
  /** The variables of a URI, if this resource has it. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}

/** All resources of a server: finds one by its URI, lists them in pages, completes template variables. */
export class Resources<Context> {
  readonly #runtime: Runtime<Context, OptionTable>;
  /** Those with a fixed URI first. */
  readonly #entries: readonly Entry[];

  constructor(runtime: Runtime<Context, OptionTable>) {
    this.#runtime = runtime;
    this.#entries = runtime.definition.resources
      .toSorted((a, b) => Number(a.uri === undefined) - Number(b.uri === undefined))
      .map((outline) =>
        outline.uriTemplate === undefined
          ? { outline, match: (uri) => (uri === outline.uri ? {} : undefined) }
          : { outline, match: compileTemplate(outline.uriTemplate).match },
      );
  }

  get canWatch(): boolean {
    return this.#entries.some(({ outline }) => outline.watches);
  }

  /** The resource with a URI, and its variables. @throws ProtocolError -32602 if no definition fits. */
  async #find(uri: string) {
    for (const { outline, match } of this.#entries) {
      const variables = match(uri);
      if (variables !== undefined)
        return { outline, variables, resource: await this.#load(outline) };
    }
    throw resourceNotFound(uri);
  }

  async #load({ name }: ResourceOutline): Promise<Resource<Context>> {
    return codeOf((await this.#runtime.load()).resources, name);
  }

  templates(): object[] {
    return this.#entries.flatMap(({ outline: { uriTemplate, ...outline } }) =>
      uriTemplate === undefined ? [] : { uriTemplate, ...listedFacts(outline) },
    );
  }

  async completer(uriTemplate: string, variable: string): Promise<Completer<Context> | undefined> {
    const family = this.#entries.find(({ outline }) => outline.uriTemplate === uriTemplate);
    if (family === undefined)
      throw new ProtocolError(invalidParams(`Unknown resource template ${show(uriTemplate)}`));
    if (!family.outline.completes.includes(variable)) return undefined;
    const resource = await this.#load(family.outline);
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
    const start = cursors.decode(typeof cursor === "string" ? cursor : undefined);
    const [at, inner] = start ?? [0, undefined];
    const resources = this.#entries.flatMap(({ outline: { uri, ...outline } }): ListedResource[] =>
      uri === undefined || start !== undefined ? [] : [{ uri, ...listedFacts(outline) }],
    );
    const families = this.#entries.filter(({ outline }) => outline.lists);
    const family = families[at]?.outline;
    let next: PageState | undefined = at + 1 < families.length ? [at + 1, undefined] : undefined;
    if (family !== undefined) {
      const page = await runAlone(this.#runtime, request, async (context, call) => {
        const resource = await this.#load(family);
        return "list" in resource ? resource.list?.(context, inner, call) : undefined;
      });
      resources.push(...(page?.resources ?? []));
      if (page?.nextCursor !== undefined) next = [at, page.nextCursor];
    }
    return { resources, ...(next === undefined ? {} : { nextCursor: cursors.encode(next) }) };
  }

  async read(request: ClientRequest): Promise<ReadResourceResult | InputRequired> {
    const uri = asUri(String(request.params.uri));
    const { outline, variables, resource } = await this.#find(uri);
    const read = (context: Context, call: Call) =>
      "uri" in resource
        ? resource.read(context, call)
        : resource.read(variables, context, call, uri);
    const body = await runHandler(this.#runtime, request, () => uri, read);
    if (body instanceof InputRequired) return body;
    return { contents: partsOf(body).map((part) => contentOf(part, uri, outline.mimeType)) };
  }

  /**
   * Starts watching a URI for `resources/subscribe` or `subscriptions/listen`.
   *
   * @returns a function that stops it; undefined if nothing with that URI can be watched.
   */
  async watch(
    uri: string,
    onChange: () => void,
    request: ClientRequest,
  ): Promise<Unwatch | undefined> {
    const { variables, resource } = await this.#find(uri);
    let pendingWatch: Awaitable<Unwatch> | undefined;
    try {
      return await runAlone(this.#runtime, request, (context, call) => {
        pendingWatch =
          "uri" in resource
            ? resource.watch?.(context, onChange, call)
            : resource.watch?.(variables, context, onChange, call);
        return pendingWatch;
      });
    } catch (error) {
      // Cancelled or timed out: stop what it still starts.
      void Promise.resolve(pendingWatch)
        .then((stop) => stop?.())
        .catch((error: unknown) =>
          this.#runtime.log.debug(`watching ${uri}: ${describeError(error)}`),
        );
      throw error;
    }
  }
}

function listedFacts({ name, title, description, mimeType }: ResourceOutline) {
  return { name, title, description, mimeType };
}

/** Which template's list comes next, and its own cursor. */
type PageState = [number, string | undefined];
const pageState: StateCheck<PageState> = {
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
  return [body].flat();
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

/**
 * Compiles a URI template (RFC 6570). `{x}` matches one path segment, `{+x}` anything, `{?x,y}` optional query parameters
 * in any order.
 *
 * @returns `match`, which returns a URI's percent-decoded values, or undefined if it does not match.
 * @throws TypeError for a template with another operator, which is not supported.
 */
export function compileTemplate(template: string): Pick<Entry, "match"> {
  const names: string[] = [];
  const queryNames: string[] = [];
  const pattern = template.split(/\{([^}]*)\}/).map((part, index) => {
    if (index % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (part.startsWith("?")) {
      queryNames.push(...part.slice(1).split(","));
      return "";
    }
    const [, operator, name] = /^(\+?)(\w+)$/.exec(part) ?? [];
    if (name === undefined)
      throw new TypeError(`Unknown expression {${part}} in the URI template ${template}`);
    names.push(name);
    return operator === "+" ? "(.+)" : "([^/?#]+)";
  });
  const matcher = new RegExp(`^${pattern.join("")}$`, "s");
  return {
    match(uri) {
      if (uri.length > MAX_URI_CHARS) return undefined;
      const queryAt = queryNames.length === 0 ? -1 : uri.indexOf("?");
      const groups = matcher.exec(queryAt === -1 ? uri : uri.slice(0, queryAt));
      if (groups === null) return undefined;
      const query = new URLSearchParams(queryAt === -1 ? "" : uri.slice(queryAt + 1));
      const queryValues = queryNames.flatMap((name) => {
        const value = query.get(name);
        return value === null ? [] : [[name, value]];
      });
      try {
        const pathValues = names.map((name, index) => [
          name,
          decodeURIComponent(groups[index + 1] ?? ""),
        ]);
        return Object.fromEntries([...pathValues, ...queryValues]);
      } catch {
        // A broken percent-encoding.
        return undefined;
      }
    },
  };
}
