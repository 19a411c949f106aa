import { describe, expect, it } from "vitest";
import { Ledger } from "./ledger.ts";
import type { Fields, Revision } from "./revisions.ts";

const ask = (id: unknown, method: string, params: Fields = {}): Fields => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const reply = (id: unknown, result: Fields): Fields => ({ jsonrpc: "2.0", id, result });
const say = (method: string, params: Fields = {}): Fields => ({ jsonrpc: "2.0", method, params });

/** The problems that a ledger finds in a server's lines after these requests of a client. */
function found(revision: Revision, requests: readonly Fields[], ...lines: unknown[]): string[] {
  const ledger = new Ledger(revision);
  for (const request of requests) ledger.asked(request);
  for (const line of lines) ledger.received(line);
  return ledger.problems.map((problem) => problem.replace(/ in [[{].*$/s, ""));
}

describe("the ledger", () => {
  const progress = (value: number, token: unknown = "t") =>
    say("notifications/progress", { progressToken: token, progress: value });
  const call = ask(1, "tools/call", { name: "a", _meta: { progressToken: "t" } });
  const done = reply(1, { content: [] });

  it("finds nothing in a good conversation", () => {
    expect(found("2025-11-25", [call], progress(1), progress(2), done)).toEqual([]);
  });

  it("requires exactly one response to each request", () => {
    expect(found("2025-11-25", [call], done, done)).toEqual(["nobody waits for this answer"]);
    expect(found("2025-11-25", [call], reply("1", { content: [] }))).toContain(
      "nobody waits for this answer",
    );
    const ledger = new Ledger("2025-11-25");
    ledger.asked(call);
    expect(ledger.unanswered).toEqual(["tools/call with the id 1"]);
    ledger.cancelled(1);
    expect(ledger.unanswered).toEqual([]);
    ledger.received(done);
    expect(ledger.problems).toHaveLength(1);
  });

  it("requires structured content that matches the tool's schema", () => {
    const outputSchema = {
      type: "object",
      properties: { a: { type: "integer" } },
      required: ["a"],
    };
    const tools = (schema: Fields) => [
      { name: "a", inputSchema: { type: "object" }, outputSchema: schema },
    ];
    const requests = [ask(0, "tools/list"), call];
    const answer = (structuredContent: unknown) => reply(1, { content: [], structuredContent });
    const listed = reply(0, { tools: tools(outputSchema) });
    expect(found("2025-11-25", requests, listed, answer({ a: 1 }))).toEqual([]);
    expect(found("2025-11-25", requests, listed, answer({ a: "1" }))).toEqual([
      "structuredContent/a must be integer",
    ]);
    expect(found("2025-11-25", requests, listed, done)).toHaveLength(1);
    expect(found("2025-03-26", requests, listed, answer({ a: 1 }))).toEqual([
      "structuredContent came with 2025-06-18",
    ]);
    const broken = reply(0, {
      tools: tools({ type: "object", properties: { a: { type: "nonsense" } } }),
    });
    expect(found("2025-11-25", requests, broken)).toEqual([
      expect.stringContaining("a has an invalid schema"),
    ]);
  });
});
