// Rules about requests and messages, in one session of one revision.
import type { ListedTool } from "../portable.ts";
import type { Findings } from "./finding.ts";
import { type Id, type Json, listOf, objectOf, pause } from "./link.ts";
import {
  cameOf,
  codeOf,
  LEGACY,
  MODERN,
  metaOf,
  newId,
  requestText,
  resultOf,
  type Session,
} from "./session.ts";

const UNKNOWN = "judge-unknown";
const LISTS = [
  {
    method: "tools/list",
    capability: "tools",
    key: "tools",
    required: ["name", "inputSchema"],
    id: "name",
  },
  {
    method: "resources/list",
    capability: "resources",
    key: "resources",
    required: ["uri", "name"],
    id: "uri",
  },
  {
    method: "resources/templates/list",
    capability: "resources",
    key: "resourceTemplates",
    required: ["uriTemplate", "name"],
    id: "uriTemplate",
    isOptional: true,
  },
  { method: "prompts/list", capability: "prompts", key: "prompts", required: ["name"], id: "name" },
] as const;
const MAX_PAGES = 100;

/** Messages that break JSON-RPC or name unknown things, and what must come back. */
export async function judgeMessages(session: Session, findings: Findings): Promise<void> {
  const { era, link } = session;
  for (const id of [0, "judge"]) {
    const reply = await session.request(era === MODERN ? "server/discover" : "ping", {}, id);
    const stray = link.strays.find((one) => one["result"] !== undefined);
    if (reply.message !== undefined) continue;
    const came =
      stray === undefined
        ? cameOf(reply)
        : `A response with the id ${JSON.stringify(stray["id"])}.`;
    findings.add(
      "rpc-id",
      `id ${JSON.stringify(id)}, ${era}`,
      `a request with the id ${JSON.stringify(id)}`,
      came,
    );
  }
  if (era === LEGACY) {
    const reply = await session.ping();
    if (resultOf(reply) === undefined) findings.add("rpc-ping", era, "ping", cameOf(reply));
  }
  const method = `${UNKNOWN}/method`;
  const unknown = await session.request(method);
  if (unknown.message === undefined)
    findings.add("rpc-answers", `unknown method, ${era}`, method, cameOf(unknown));
  else if (codeOf(unknown) !== -32601)
    findings.add("rpc-unknown-method", era, method, cameOf(unknown));
  await session.notify(`notifications/${UNKNOWN}`);
  await session.notify("notifications/cancelled", {
    requestId: "judge-never-sent",
    reason: "judge",
  });
  const cancelled = newId();
  await link.tell(
    requestText(cancelled, "tools/list", era === MODERN ? { _meta: metaOf(MODERN) } : {}),
  );
  await session.notify("notifications/cancelled", { requestId: cancelled, reason: "judge" });
  const alive = await session.ping();
  if (alive.message === undefined)
    findings.add(
      "request-cancelled",
      era,
      "notifications/cancelled of an unknown request and of tools/list",
      cameOf(alive),
    );
  await settled(session);
  const answered = link.strays.filter(({ id }) => id === undefined || id === null);
  if (answered.length > 0)
    findings.add(
      "rpc-notification",
      era,
      `notifications/${UNKNOWN} and notifications/cancelled`,
      answered[0],
    );
}

/** Waits until what the server still has to say about earlier messages has come. */
async function settled(session: Session): Promise<void> {
  await session.ping();
  await session.ping();
  await pause(100);
}

/** Bytes that are not a request. Called last, because a server may end. */
export async function judgeGarbage(session: Session, findings: Findings): Promise<void> {
  const { link, era } = session;
  const tellAndTake = async (text: string) => {
    const before = link.strays.length;
    await link.tell(text);
    await settled(session);
    return link.strays.slice(before);
  };
  const broken = await tellAndTake('{"jsonrpc":"2.0","id":');
  if (!link.isOpen) return;
  if (!broken.some((one) => objectOf(one["error"])["code"] === -32700))
    findings.add("rpc-parse-error", era, '{"jsonrpc":"2.0","id":', broken[0] ?? "No answer.");
  const id = newId();
  const reply = await link.ask(
    id,
    `{"jsonrpc":"2.0","id":${id},"method":5}`,
    Math.min(session.timeoutMs, 2_000),
  );
  if (
    link.isOpen &&
    codeOf(reply) === undefined &&
    !link.strays.some((one) => objectOf(one["error"])["code"] === -32600)
  )
    findings.add(
      "rpc-invalid-request",
      era,
      `{"jsonrpc":"2.0","id":${id},"method":5}`,
      cameOf(reply),
    );
}

/** Whether the server survived; `process-crash` otherwise. */
export async function isAlive(
  session: Session,
  findings: Findings,
  after: string,
  stderr: string,
): Promise<boolean> {
  if (session.link.isOpen && (await session.ping()).message !== undefined) return true;
  findings.add(
    "process-crash",
    session.era,
    after,
    session.link.isOpen ? "The server answers no more." : `The process ended. ${stderr}`,
  );
  return false;
}

/** The lists, page by page. @returns the tools. */
export async function judgeLists(
  session: Session,
  capabilities: Json,
  findings: Findings,
): Promise<ListedTool[]> {
  let tools: ListedTool[] = [];
  for (const list of LISTS) {
    const { method, capability, key, required, id } = list;
    const where = `${method}, ${session.era}`;
    const items = await pagesOf(session, method, key, findings);
    const isDeclared = capabilities[capability] !== undefined;
    if (typeof items === "string") {
      if (isDeclared && !("isOptional" in list))
        findings.add("list-declared", where, method, items);
      continue;
    }
    if (!isDeclared && items.length > 0)
      findings.add(
        "list-undeclared",
        where,
        method,
        `${items.length} items, but the capability ${capability} is not declared.`,
      );
    for (const item of items) {
      const missing = required.filter((name) => item[name] === undefined || item[name] === null);
      if (missing.length > 0)
        findings.add(
          "list-shape",
          where,
          method,
          `Without ${missing.join(" and ")}: ${JSON.stringify(item)}`,
        );
    }
    const ids = items.map((item) => String(item[id]));
    const double = ids.find((one, index) => ids.indexOf(one) !== index);
    if (double !== undefined && key !== "tools")
      findings.add("list-pages", where, method, `${double} is listed twice.`);
    const wrongCursor = await session.request(method, { cursor: "judge-cursor" });
    if (resultOf(wrongCursor) !== undefined)
      findings.add(
        "list-cursor",
        where,
        `${method} with the cursor "judge-cursor"`,
        cameOf(wrongCursor),
      );
    if (key !== "tools") continue;
    tools = items.flatMap((item) =>
      typeof item["name"] === "string" ? [{ ...item, name: item["name"] }] : [],
    );
    const again = await pagesOf(session, method, key, findings);
    if (
      typeof again !== "string" &&
      again.map(({ name }) => name).join() !== items.map(({ name }) => name).join()
    )
      findings.add("list-order", where, `${method}, twice`, again.map(({ name }) => name).join());
  }
  return tools;
}

/** All items of a list, or what came instead. */
async function pagesOf(
  session: Session,
  method: string,
  key: string,
  findings: Findings,
): Promise<Json[] | string> {
  const items: Json[] = [];
  const cursors = new Set<unknown>();
  let cursor: unknown;
  do {
    const reply = await session.request(method, cursor === undefined ? {} : { cursor });
    const result = resultOf(reply);
    if (result === undefined || !Array.isArray(result[key])) return cameOf(reply);
    items.push(...listOf(result[key]).map(objectOf));
    cursor = result["nextCursor"] ?? undefined;
    if (cursor !== undefined && (cursors.has(cursor) || cursors.size >= MAX_PAGES)) {
      findings.add(
        "list-pages",
        `${method}, ${session.era}`,
        method,
        `The cursor ${JSON.stringify(cursor)} again, after ${cursors.size} pages.`,
      );
      break;
    }
    cursors.add(cursor);
  } while (cursor !== undefined);
  return items;
}

/** Requests for things that do not exist. */
export async function judgeUnknown(
  session: Session,
  capabilities: Json,
  findings: Findings,
): Promise<void> {
  const { era } = session;
  const ask = (method: string, params: Json) => session.request(method, params);
  if (capabilities["tools"] !== undefined) {
    const call = await ask("tools/call", { name: UNKNOWN, arguments: {} });
    if (codeOf(call) !== -32602)
      findings.add("request-unknown-tool", era, `tools/call ${UNKNOWN}`, cameOf(call));
    const malformed = await ask("tools/call", { name: 5 });
    if (codeOf(malformed) === undefined)
      findings.add("request-malformed", era, 'tools/call with {"name":5}', cameOf(malformed));
  }
  if (capabilities["resources"] !== undefined) {
    const read = await ask("resources/read", { uri: `${UNKNOWN}://nothing` });
    const code = codeOf(read);
    if (code === undefined || (era === MODERN && code !== -32602))
      findings.add("request-resource", era, `resources/read ${UNKNOWN}://nothing`, cameOf(read));
  }
  if (capabilities["prompts"] !== undefined) {
    const get = await ask("prompts/get", { name: UNKNOWN });
    if (codeOf(get) !== -32602)
      findings.add("request-prompt", era, `prompts/get ${UNKNOWN}`, cameOf(get));
  }
}

/** What only 2026-07-28 demands. */
export async function judgeModern(session: Session, findings: Findings): Promise<void> {
  const ask = async (meta: Json, method = "tools/list") => {
    const id: Id = newId();
    return await session.text(method, requestText(id, method, { _meta: meta }), id);
  };
  const other = await ask(metaOf("1999-01-01"));
  const { data } = objectOf(other.message?.["error"]);
  if (codeOf(other) !== -32022 || !listOf(objectOf(data)["supported"]).includes(MODERN))
    findings.add("modern-version", MODERN, "tools/list for the revision 1999-01-01", cameOf(other));
  const bare = await ask({ "io.modelcontextprotocol/protocolVersion": MODERN });
  if (codeOf(bare) !== -32602)
    findings.add(
      "modern-meta",
      MODERN,
      "tools/list without io.modelcontextprotocol/clientCapabilities",
      cameOf(bare),
    );
}
