import { cursorsOf, type StateCheck } from "@refmcp/boundary/answer";
import type { ListedResource } from "@refmcp/core";
import {
  type Awaitable,
  asUri,
  type ClientRequest,
  compileTemplate,
  isObject,
  resourceNotFound,
} from "@refmcp/core/run";
import { nameOf, type Part, send } from "./part.ts";

/** Whether a URI can be one of a server's resources, views or skills. */
function hasResource({ definition, resources }: Part, uri: string): boolean {
  const { name, skills = [] } = definition;
  if (uri.startsWith("ui://")) return uri.startsWith(`ui://${name}/`);
  if (uri.startsWith("skill://"))
    return [...skills].some((skill) => uri.startsWith(`skill://${Object(skill).name}/`));
  return resources.some((resource) =>
    resource.uriTemplate === undefined
      ? resource.uri === uri
      : compileTemplate(resource.uriTemplate).match(uri) !== undefined,
  );
}

/**
 * The result of the first server that has a resource; several may have a template that fits, such as `schema://…`. Those
 * that are open already are asked first.
 *
 * @throws the last server's error; ProtocolError -32602 if no template fits.
 */
export async function ofResource<Result>(
  parts: readonly Part[],
  given: string,
  ask: (part: Part) => Awaitable<Result | undefined>,
): Promise<Result> {
  const uri = asUri(given);
  const isClosed = (part: Part) => Number(!part.isOpen());
  let error: unknown = resourceNotFound(uri);
  for (const part of parts.toSorted((a, b) => isClosed(a) - isClosed(b))) {
    if (!hasResource(part, uri)) continue;
    try {
      const result = await ask(part);
      if (result !== undefined) return result;
    } catch (thrown) {
      error = thrown;
    }
  }
  throw error;
}

/**
 * The resources of all servers. One that has not been used lists only those with a fixed URI; clients are notified when it
 * has more.
 */
export async function listResources(
  parts: readonly Part[],
  request: ClientRequest,
): Promise<object> {
  const { cursor, ...params } = request.params;
  const cursors = cursorsOf("resources/list", [], pageCursors);
  const rest = cursors.decode(typeof cursor === "string" ? cursor : undefined);
  const resources: ListedResource[] = [];
  const next: Record<string, string> = {};
  for (const part of parts) {
    const name = nameOf(part);
    const from = rest?.[name];
    if (rest !== undefined && from === undefined) continue;
    request.params = from === undefined ? params : { ...params, cursor: from };
    const page = await resourcesOf(part, request);
    resources.push(...(page.resources ?? []));
    if (page.nextCursor !== undefined) next[name] = page.nextCursor;
  }
  return {
    resources,
    ...(Object.keys(next).length === 0 ? {} : { nextCursor: cursors.encode(next) }),
  };
}

async function resourcesOf(
  part: Part,
  request: ClientRequest,
): Promise<{ resources?: ListedResource[]; nextCursor?: string }> {
  try {
    if (part.isOpen()) return Object(await send(part, request));
  } catch {
    // A server that fails must not hide the resources of the others.
  }
  return {
    resources: part.resources.flatMap(({ uri, name, title, description, mimeType, annotations }) =>
      uri === undefined ? [] : [{ uri, name, title, description, mimeType, annotations }],
    ),
  };
}

/** The servers with more pages, and the cursor of each. */
const pageCursors: StateCheck<Readonly<Record<string, string>>> = {
  safeParse: (value) => (isTexts(value) ? { success: true, data: value } : { success: false }),
};

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}
