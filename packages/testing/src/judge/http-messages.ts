// Rules about HTTP: statuses, headers and sessions.
import type { Findings } from "./finding.ts";
import type { HttpLink } from "./http.ts";
import { LEGACY, MODERN, metaOf, newId, requestText, type Session } from "./session.ts";

const TIMEOUT_MS = 15_000;
const FOREIGN = "http://judge.invalid";

/** @param url of the endpoint; only a local one must refuse foreign origins. */
export async function judgeHttp(
  session: Session,
  link: HttpLink,
  url: string,
  findings: Findings,
): Promise<void> {
  const { era } = session;
  const post = async (text: string, more: Readonly<Record<string, string>>) =>
    await link
      .send("POST", text, [...link.headers, ...Object.entries(more)], TIMEOUT_MS)
      .catch(() => undefined);
  const statusOf = (received: { status: number; body: string } | undefined) =>
    received === undefined
      ? "No response."
      : `HTTP ${received.status} ${received.body.slice(0, 200)}`;
  const list = requestText(newId(), "tools/list", era === MODERN ? { _meta: metaOf(MODERN) } : {});
  const mirrored =
    era === MODERN ? { "mcp-protocol-version": MODERN, "mcp-method": "tools/list" } : {};

  const { hostname } = new URL(url);
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) {
    const foreign = await post(list, { ...mirrored, origin: FOREIGN });
    if (foreign?.status !== 403)
      findings.add("http-origin", era, `Origin: ${FOREIGN}`, statusOf(foreign));
  }
  const notification = JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "judge-never-sent", ...(era === MODERN ? { _meta: metaOf(MODERN) } : {}) },
  });
  const told = await post(notification, {
    ...mirrored,
    ...(era === MODERN && { "mcp-method": "notifications/cancelled" }),
  });
  if (told?.status !== 202 || told.body !== "")
    findings.add("http-notification", era, notification, statusOf(told));

  if (era === MODERN) {
    const unknown = requestText(newId(), "judge-unknown/method", { _meta: metaOf(MODERN) });
    const missing = await post(unknown, { ...mirrored, "mcp-method": "judge-unknown/method" });
    if (missing?.status !== 404)
      findings.add(
        "http-modern-status",
        "unknown method",
        "judge-unknown/method",
        statusOf(missing),
      );
    const mismatch = await post(list, { ...mirrored, "mcp-protocol-version": LEGACY });
    if (mismatch?.status !== 400)
      findings.add(
        "http-modern-status",
        "header mismatch",
        `MCP-Protocol-Version: ${LEGACY}, with ${MODERN} in the body`,
        statusOf(mismatch),
      );
    return;
  }
  const version = await post(list, { "mcp-protocol-version": "1999-01-01" });
  if (version?.status !== 400)
    findings.add("http-version", era, "MCP-Protocol-Version: 1999-01-01", statusOf(version));
  const get = await link.send("GET", undefined, link.headers, TIMEOUT_MS).catch(() => undefined);
  if (get?.status !== 405 && !(get?.status === 200 && get.type.startsWith("text/event-stream")))
    findings.add("http-get", era, "GET", statusOf(get));
  if (link.session === undefined) return;
  const ended = await link
    .send("DELETE", undefined, link.headers, TIMEOUT_MS)
    .catch(() => undefined);
  // A server may refuse to end sessions.
  if (ended === undefined || ended.status >= 300) return;
  const after = await post(list, {});
  if (after?.status !== 404)
    findings.add("http-session", era, "tools/list in a session that DELETE ended", statusOf(after));
}
