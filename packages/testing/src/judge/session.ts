import type { Findings } from "./finding.ts";
import { type Endpoint, HttpLink } from "./http.ts";
import { type Json, type Link, objectOf, type Reply } from "./link.ts";
import { type Command, StdioLink } from "./stdio.ts";

export type Target = Command | Endpoint;
export type Era = "2025-11-25" | "2026-07-28";
export const LEGACY: Era = "2025-11-25";
export const MODERN: Era = "2026-07-28";

const CLIENT = { name: "refmcp-judge", version: "1.0.0" };
const CACHED = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

export function metaOf(version: string): Json {
  return {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
}

export function initializeParams(version: string): Json {
  return { protocolVersion: version, capabilities: {}, clientInfo: CLIENT };
}

export function openLink(target: Target, findings: Findings, era: Era): Link {
  return "url" in target
    ? new HttpLink(target, findings, era)
    : new StdioLink(target, findings, era);
}

let lastId = 0;
export const newId = (): number => {
  lastId += 1;
  return lastId;
};

/** The text of a request; `params` may be JSON text that `JSON.stringify` could not write. */
export function requestText(id: unknown, method: string, params: Json | string): string {
  const text = typeof params === "string" ? params : JSON.stringify(params);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":${text}}`;
}

/** Requests in one revision. */
export class Session {
  readonly link: Link;
  readonly era: Era;
  readonly timeoutMs: number;
  readonly #findings: Findings;
  /** The largest answer so far. */
  largest = 0;
  /** The memory of the server after its start, if it is known. */
  readonly restMb: number;

  constructor(link: Link, era: Era, timeoutMs: number, findings: Findings) {
    this.link = link;
    this.era = era;
    this.timeoutMs = timeoutMs;
    this.#findings = findings;
    this.restMb = link instanceof StdioLink ? (link.memory()?.now ?? 0) : 0;
  }

  async request(method: string, params: Json = {}, id: number | string = newId()): Promise<Reply> {
    const full =
      this.era === MODERN
        ? { ...params, _meta: { ...metaOf(MODERN), ...objectOf(params["_meta"]) } }
        : params;
    return await this.text(method, requestText(id, method, full), id);
  }

  /** A call whose arguments are JSON text. */
  async callText(name: string, args: string): Promise<Reply> {
    const id = newId();
    const meta = this.era === MODERN ? `,"_meta":${JSON.stringify(metaOf(MODERN))}` : "";
    const params = `{"name":${JSON.stringify(name)},"arguments":${args}${meta}}`;
    return await this.text("tools/call", requestText(id, "tools/call", params), id);
  }

  async text(method: string, text: string, id: number | string): Promise<Reply> {
    const reply = await this.link.ask(id, text, this.timeoutMs);
    this.largest = Math.max(this.largest, reply.bytes);
    if (this.era === MODERN) this.#checkModern(method, reply);
    return reply;
  }

  async notify(method: string, params: Json = {}): Promise<void> {
    const full = this.era === MODERN ? { ...params, _meta: metaOf(MODERN) } : params;
    await this.link.tell(JSON.stringify({ jsonrpc: "2.0", method, params: full }));
  }

  /** A cheap request that every server of the revision has. */
  async ping(): Promise<Reply> {
    return await this.request(this.era === MODERN ? "server/discover" : "ping");
  }

  /** What every answer of 2026-07-28 must have. */
  #checkModern(method: string, { message }: Reply): void {
    if (message === undefined) return;
    const { result, error } = message;
    const code = objectOf(error)["code"];
    if (
      typeof code === "number" &&
      (code === -32002 || (code <= -32020 && code >= -32099 && code < -32022))
    )
      this.#findings.add("modern-codes", method, "", `The error code ${code}.`);
    if (result === undefined) return;
    const { resultType, ttlMs, cacheScope, _meta } = objectOf(result);
    const add = (
      rule: "modern-result-type" | "modern-caching" | "modern-server-info",
      came: string,
    ) => this.#findings.add(rule, method, "", came);
    if (typeof resultType !== "string") add("modern-result-type", "A result without resultType.");
    if (typeof objectOf(objectOf(_meta)["io.modelcontextprotocol/serverInfo"])["name"] !== "string")
      add("modern-server-info", "A result without io.modelcontextprotocol/serverInfo.");
    if (!CACHED.has(method) || resultType !== "complete") return;
    const isTtl = typeof ttlMs === "number" && ttlMs >= 0;
    if (!isTtl || (cacheScope !== "public" && cacheScope !== "private"))
      add(
        "modern-caching",
        `ttlMs ${JSON.stringify(ttlMs)}, cacheScope ${JSON.stringify(cacheScope)}.`,
      );
  }
}

export function resultOf(reply: Reply): Json | undefined {
  const result = reply.message?.["result"];
  return result === undefined ? undefined : objectOf(result);
}

export function errorOf(reply: Reply): Json {
  return objectOf(reply.message?.["error"]);
}

export function codeOf(reply: Reply): number | undefined {
  const { code } = errorOf(reply);
  return typeof code === "number" ? code : undefined;
}

/** What came back, for a report. */
export function cameOf(reply: Reply): string {
  if (reply.message === undefined)
    return `No response (${reply.missing}${reply.status === undefined ? "" : `, HTTP ${reply.status}`}, after ${Math.round(reply.ms)} ms).`;
  const { error, result } = reply.message;
  const text = JSON.stringify(error ?? result) ?? "";
  return `${error === undefined ? "result" : "error"} ${text}`;
}
