import { cursorsOf, type StateCheck } from "../answer/cursor.ts";
import type { Call } from "../define/call.ts";
import type { ResourceContents } from "../define/content.ts";
import type { OptionTable } from "../define/options.ts";
import type {
  Completer,
  FixedResource,
  ListedResource,
  Resource,
  ResourceBody,
  ResourcePage,
  ResourcePart,
  TemplateResource,
  Unwatch,
} from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import { describeError, invalidParams, ProtocolError, resourceNotFound } from "../protocol/errors.ts";
import { asUri, show } from "../protocol/messages.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { ReadResourceResult } from "../protocol/wire.ts";
import { InputRequired } from "./asking.ts";
import { runHandler } from "./call.ts";
import type { Runtime } from "./runtime.ts";
import { compileTemplate, type UriMatcher } from "./uri.ts";

/** A template without the types of its variables, as the dispatcher treats it. */
interface Family<Context> {
  readonly definition: TemplateResource<Context>;
  readonly matcher: UriMatcher;
}

/** A URI's resource, ready to be read or watched. */
interface Found<Context> {
  readonly mimeType: string | undefined;
  read(context: Context, call: Call): Awaitable<ResourceBody>;
  watch(context: Context, changed: () => void, call: Call): Awaitable<Unwatch> | undefined;
}

/** All resources of a server: finds one by its URI, lists them in pages, completes template variables. */
export class Resources<Context> {
  readonly #fixed: readonly FixedResource<Context>[];
  readonly #families: readonly Family<Context>[];

  constructor(resources: readonly Resource<Context>[]) {
    this.#fixed = resources.filter((resource): resource is FixedResource<Context> => "uri" in resource);
    this.#families = resources
      .filter((resource): resource is TemplateResource<Context> => "uriTemplate" in resource)
      .map((definition) => ({ definition, matcher: compileTemplate(definition.uriTemplate) }));
  }

  get canWatch(): boolean {
    return [...this.#fixed, ...this.#families.map((family) => family.definition)].some(
      (resource) => resource.watch !== undefined,
    );
  }

  /** The resource behind a URI, or undefined if no definition fits. */
  find(uri: string): Found<Context> | undefined {
    const fixed = this.#fixed.find((resource) => resource.uri === uri);
    if (fixed !== undefined) {
      return {
        mimeType: fixed.mimeType,
        read: (context, call) => fixed.read(context, call),
        watch: (context, changed, call) => fixed.watch?.(context, changed, call),
      };
    }
    for (const { definition, matcher } of this.#families) {
      const variables = matcher.match(uri);
      if (variables === undefined) continue;
      return {
        mimeType: definition.mimeType,
        read: (context, call) => definition.read(variables, context, call),
        watch: (context, changed, call) => definition.watch?.(variables, context, changed, call),
      };
    }
    return undefined;
  }

  templates(): object[] {
    return this.#families.map(({ definition }) => ({
      uriTemplate: definition.uriTemplate,
      name: definition.name,
      title: definition.title,
      description: definition.description,
      ...(definition.mimeType === undefined ? {} : { mimeType: definition.mimeType }),
      ...(definition.annotations === undefined ? {} : { annotations: definition.annotations }),
    }));
  }

  completer(uriTemplate: string, variable: string): Completer<Context> | undefined {
    const family = this.#families.find((candidate) => candidate.definition.uriTemplate === uriTemplate);
    if (family === undefined)
      throw new ProtocolError(invalidParams(`Unknown resource template ${show(uriTemplate)}`));
    const complete: Readonly<Record<string, Completer<Context> | undefined>> =
      family.definition.complete ?? {};
    return Object.hasOwn(complete, variable) ? complete[variable] : undefined;
  }

  /** One page of the list: the fixed ones first, then those that each template lists. */
  async list(
    cursor: string | undefined,
    ask: (list: (context: Context, call: Call) => Awaitable<ResourcePage>) => Promise<ResourcePage>,
  ): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
    const cursors = cursorsOf("resources/list", [], pageState);
    const lists = this.#families.flatMap(({ definition }) =>
      definition.list === undefined ? [] : [definition],
    );
    const start = cursors.decode(cursor);
    const [at, inner] = start ?? [0, undefined];
    const resources: ListedResource[] = start === undefined ? this.#fixed.map(listedFixed) : [];
    const family = lists[at];
    const page =
      family === undefined
        ? undefined
        : await ask((context, call) => family.list?.(context, inner, call) ?? { resources: [] });
    resources.push(...(page?.resources ?? []));
    const next: [number, string | undefined] | undefined =
      page?.nextCursor !== undefined
        ? [at, page.nextCursor]
        : at + 1 < lists.length
          ? [at + 1, undefined]
          : undefined;
    return { resources, ...(next === undefined ? {} : { nextCursor: cursors.encode(next) }) };
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

function listedFixed(resource: FixedResource<never>): ListedResource {
  return {
    uri: resource.uri,
    name: resource.name,
    title: resource.title,
    description: resource.description,
    ...(resource.mimeType === undefined ? {} : { mimeType: resource.mimeType }),
    ...(resource.annotations === undefined ? {} : { annotations: resource.annotations }),
  };
}

/** Answers one `resources/read`. */
export async function readResource<Context>(
  runtime: Runtime<Context, OptionTable>,
  resources: Resources<Context>,
  request: ClientRequest,
): Promise<ReadResourceResult | InputRequired> {
  const uri = asUri(String(request.params.uri));
  const found = resources.find(uri);
  if (found === undefined) throw resourceNotFound(uri);
  const body = await runHandler(
    runtime,
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
 * @returns what stops it; undefined if nothing of that name can be watched.
 */
export async function watchResource<Context>(
  runtime: Runtime<Context, OptionTable>,
  resources: Resources<Context>,
  uri: string,
  changed: () => void,
  request: ClientRequest,
): Promise<Unwatch | undefined> {
  const found = resources.find(uri);
  if (found === undefined) throw resourceNotFound(uri);
  let begun: Awaitable<Unwatch> | undefined;
  try {
    return await runAlone(runtime, request, (context, call) => {
      begun = found.watch(context, changed, call);
      return begun;
    });
  } catch (error) {
    // Cancelled or too late: what it may still start is stopped.
    void Promise.resolve(begun)
      .then((stop) => stop?.())
      .catch((late: unknown) => runtime.log.debug(`watching ${uri}: ${describeError(late)}`));
    throw error;
  }
}

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

function contentOf(part: ResourcePart, uri: string, mimeType: string | undefined): ResourceContents {
  const type = part.mimeType ?? mimeType;
  const facts = { uri: asUri(part.uri ?? uri), ...(type === undefined ? {} : { mimeType: type }) };
  if ("text" in part) return { ...facts, text: part.text.toWellFormed() };
  const { buffer, byteOffset, byteLength } = part.blob;
  return { ...facts, blob: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}
