import {
  type InputRequiredResult,
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ResourceTemplateType,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { cursorsOf } from "../answer/cursor.ts";
import { ToolError } from "../answer/errors.ts";
import type {
  Completer,
  FixedResource,
  Resource,
  ResourceBody,
  ResourcePart,
  TemplateResource,
  Unwatch,
} from "../define/resource.ts";
import type { Log } from "../log.ts";
import { InputNeeded } from "./asking.ts";
import { faultError } from "./result.ts";
import type { Session } from "./session.ts";
import { asUri, compileTemplate, type UriMatcher } from "./uri.ts";

/** A template without the types of its variables, as the dispatcher treats it. */
interface Family<Context> {
  readonly definition: TemplateResource<Context>;
  readonly matcher: UriMatcher;
}

/** A URI's resource, ready to be read or watched. */
interface Found<Context> {
  readonly mimeType: string | undefined;
  read(
    context: Context,
    call: Parameters<FixedResource<Context>["read"]>[1],
  ): ReturnType<FixedResource<Context>["read"]>;
  watch(
    context: Context,
    changed: () => void,
  ): ReturnType<NonNullable<FixedResource<Context>["watch"]>> | undefined;
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

  /** The resource behind a URI, or undefined where no definition fits. */
  find(uri: string): Found<Context> | undefined {
    const fixed = this.#fixed.find((resource) => resource.uri === uri);
    if (fixed !== undefined) {
      return {
        mimeType: fixed.mimeType,
        read: (context, call) => fixed.read(context, call),
        watch: (context, changed) => fixed.watch?.(context, changed),
      };
    }
    for (const { definition, matcher } of this.#families) {
      const variables = matcher.match(uri);
      if (variables === undefined) continue;
      return {
        mimeType: definition.mimeType,
        read: (context, call) => definition.read(variables, context, call),
        watch: (context, changed) => definition.watch?.(variables, context, changed),
      };
    }
    return undefined;
  }

  templates(): ResourceTemplateType[] {
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
    if (family === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown resource template ${JSON.stringify(uriTemplate)}`,
      );
    }
    const complete: Readonly<Record<string, Completer<Context> | undefined>> =
      family.definition.complete ?? {};
    return Object.hasOwn(complete, variable) ? complete[variable] : undefined;
  }

  /** One page of the list: the fixed ones first, then those that each template lists. */
  async list(cursor: string | undefined, open: () => Promise<Context>): Promise<ListResourcesResult> {
    const cursors = cursorsOf("resources/list", [], z.tuple([z.int().min(0), z.string().optional()]));
    const lists = this.#families
      .map((family) => family.definition)
      .filter((definition) => definition.list !== undefined);
    const start = decodeCursor(() => cursors.decode(cursor));
    const [at, inner] = start ?? [0, undefined];
    const resources = start === undefined ? this.#fixed.map(listedFixed) : [];
    const page = await lists[at]?.list?.(await open(), inner);
    if (page !== undefined) resources.push(...page.resources);
    const next: [number, string | undefined] | undefined =
      page?.nextCursor !== undefined
        ? [at, page.nextCursor]
        : at + 1 < lists.length
          ? [at + 1, undefined]
          : undefined;
    return { resources, ...(next === undefined ? {} : { nextCursor: cursors.encode(next) }) };
  }
}

function listedFixed(resource: FixedResource<never>): ListResourcesResult["resources"][number] {
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
  session: Session<Context>,
  resources: Resources<Context>,
  uri: string,
  context: ServerContext,
): Promise<ReadResourceResult | InputRequiredResult> {
  const found = resources.find(uri);
  if (found === undefined) throw new ResourceNotFoundError(uri);
  const asking = session.asking(context, () => uri);
  try {
    const running = session.startCall(context, asking);
    const body = await running.limited(async () => {
      await session.roots.settle(asking);
      return found.read(await session.runtime.open(), running.call);
    });
    if (asking.isOpen) return await asking.inputRequired();
    return { contents: partsOf(body).map((part) => contentOf(part, uri, found.mimeType)) };
  } catch (error) {
    if (error instanceof InputNeeded || asking.isOpen) return await asking.inputRequired();
    throw protocolError(error, `resource ${uri}`, session.runtime.log, uri);
  }
}

/** Starts watching a URI for `resources/subscribe` or `subscriptions/listen`. */
export async function watchResource<Context>(
  resources: Resources<Context>,
  open: () => Promise<Context>,
  uri: string,
  changed: () => void,
): Promise<Unwatch | undefined> {
  const found = resources.find(uri);
  if (found === undefined) throw new ResourceNotFoundError(uri);
  return found.watch(await open(), changed);
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
): ReadResourceResult["contents"][number] {
  const type = part.mimeType ?? mimeType;
  const facts = { uri: asUri(part.uri ?? uri), ...(type === undefined ? {} : { mimeType: type }) };
  if ("text" in part) return { ...facts, text: part.text.toWellFormed() };
  const { buffer, byteOffset, byteLength } = part.blob;
  return { ...facts, blob: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

/** A cursor that a client made up is -32602 (MCP, "Pagination: error handling"). */
export function decodeCursor<State>(decode: () => State): State {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ToolError) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    throw error;
  }
}

/** An error outside of a tool, where the protocol has no result for it. */
export function protocolError(error: unknown, where: string, log: Log, uri?: string): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (!(error instanceof ToolError)) {
    return new ProtocolError(ProtocolErrorCode.InternalError, faultError(where, error, log).message);
  }
  const text = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  if (error.kind === "not_found" && uri !== undefined) return new ResourceNotFoundError(uri, text);
  const ours = error.kind === "unavailable" || error.kind === "timeout" || error.kind === "cancelled";
  return new ProtocolError(ours ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams, text, {
    kind: error.kind,
    ...(uri === undefined ? {} : { uri }),
  });
}
