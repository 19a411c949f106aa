import { channel } from "node:diagnostics_channel";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { modernCall, openSession, post, startProbe } from "../../test/fixtures/http.ts";
import { CALLS } from "../engine/request.ts";
import { createLog } from "../log.ts";
import { auditTo } from "./audit.ts";

/** A call that succeeds, one that fails, one of a tool that does not exist, and one in a session. */
async function fourCalls(url: URL): Promise<void> {
  const calls = [
    modernCall("probe_say", { text: "secret-argument" }),
    modernCall("probe_fail", { how: "error" }),
    modernCall("made-up-by-a-client", {}),
  ];
  for (const { message, headers } of calls) await (await post(url, message, headers)).text();
  const session = await openSession(url);
  await (await post(url, { jsonrpc: "2.0", id: 2, method: "tools/list" }, session)).text();
}

async function auditFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-audit-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "audit.jsonl");
}

it("loses lines instead of keeping all of them for a stalled file, and reports it once", async () => {
  const file = await auditFile();
  const reports: string[] = [];
  const log = createLog("x", "error", (line) => reports.push(line));
  const end = auditTo(file, log, 0);
  for (const tool of ["written", "lost", "lost"]) channel(CALLS).publish({ tool });
  await expect.poll(() => readFile(file, "utf8").catch(() => "")).toContain("written");
  await expect.poll(() => readFile(file, "utf8")).toMatch(/\n$/);
  channel(CALLS).publish({ tool: "again" });
  await end();
  expect(await readFile(file, "utf8")).toMatch(/^.*"written".*\n.*"again".*\n$/);
  expect(reports).toEqual([expect.stringContaining("is stalled")]);
});

it("appends a line for each tool call to the audit log, without its contents", async () => {
  const file = await auditFile();
  const probe = await startProbe(["--audit-log", file]);
  await fourCalls(probe.url);
  await probe.close();
  const full = await startProbe(["--audit-log", file], { limits: { inFlight: 0 } });
  const { message, headers } = modernCall("probe_say", { text: "secret-argument" });
  expect((await post(full.url, message, headers)).status).toBe(503);
  await full.close();
  const text = await readFile(file, "utf8");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { principal: "", tool: "probe_echo", effect: "read", outcome: "ok" },
    { tool: "probe_fail", outcome: "tool_error" },
    { tool: null, effect: null, outcome: -32602 },
    // Refused, since there is no room.
    { tool: "probe_echo", effect: "read", outcome: -32603 },
  ]);
  for (const { ms, answer_characters: size } of lines)
    expect([Number.isInteger(ms), Number.isInteger(size)]).toEqual([true, true]);
  expect(text).not.toMatch(/secret-argument|made-up/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});
