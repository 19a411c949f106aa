import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type Bundle, bundleServer } from "../bundle.ts";

export const VERSION = "2026-07-28";
export const CLIENT = { name: "refmcp-test", version: "1.0.0" };
export const CAPABILITIES = {
  elicitation: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
};
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
};
export type Fields = Record<string, unknown>;

let fixture: Bundle;
export const open: (() => Promise<unknown>)[] = [];

/** Bundles the fixture for a file of tests, and ends after each test what it started. */
export function useFixture(): void {
  beforeAll(async () => {
    fixture = await bundleServer("conformance/fixtures/everything.ts");
  });
  afterAll(() => fixture?.remove());
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
}

export async function start(
  more: { args?: string[]; env?: Record<string, string> } = {},
): Promise<HttpProcess> {
  const args = ["--task-after-ms", "100", ...(more.args ?? [])];
  const server = await startHttp(fixture.file, { ...more, args });
  open.push(() => server.stop("SIGKILL"));
  return server;
}

let nextId = 1;
/** Sends a request of 2026-07-28; the answer may be a stream. */
export async function post(
  url: URL,
  method: string,
  params: Fields,
  signal?: AbortSignal,
): Promise<Response> {
  const name = params.taskId ?? params.name;
  const { _meta = META, ...rest } = params;
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: nextId++, method, params: { ...rest, _meta } }),
    ...(signal && { signal }),
  });
}
export async function ask(
  url: URL,
  method: string,
  params: Fields,
): Promise<{ result?: Fields; error?: Fields }> {
  return JSON.parse(await (await post(url, method, params)).text());
}
export async function begin(url: URL, name: string, args: Fields): Promise<string> {
  const { result } = await ask(url, "tools/call", { name, arguments: args });
  expect(result).toMatchObject({ resultType: "task" });
  return String(result?.taskId);
}
export async function until(url: URL, taskId: string, status: string): Promise<Fields> {
  let result: Fields = {};
  const reached = async () => {
    result = Object((await ask(url, "tasks/get", { taskId })).result);
    return result.status;
  };
  await expect.poll(reached).toBe(status);
  return result;
}
