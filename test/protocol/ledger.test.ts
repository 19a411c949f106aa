import { describe, expect, it } from "vitest";
import { metaOf } from "./client.ts";
import { Ledger } from "./ledger.ts";
import { type Fields, MODERN, type Revision } from "./revisions.ts";

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

  it("requires increasing progress, for a request in flight", () => {
    expect(found("2025-11-25", [call], progress(2), progress(2))).toEqual([
      "progress must increase",
    ]);
    expect(found("2025-11-25", [call], progress(1, 1))).toEqual([
      "no request in flight has this progress token",
    ]);
    expect(found("2025-11-25", [call], done, progress(1))).toEqual([
      "no request in flight has this progress token",
    ]);
  });

  it("allows batched responses only in 2025-03-26", () => {
    const ping = ask(1, "ping");
    expect(found("2025-03-26", [ping], [reply(1, {})])).toEqual([]);
    expect(found("2025-03-26", [ping], [])).toEqual(["an empty batch"]);
    expect(found("2025-03-26", [ping], [say("notifications/tools/list_changed")])).toHaveLength(1);
    expect(found("2025-06-18", [ping], [reply(1, {})])).toEqual([
      "a batch, which only 2025-03-26 has",
    ]);
  });

  it("allows only questions that the client declared", () => {
    const opening = (capabilities: Fields) => ask("i", "initialize", { capabilities });
    const visit = ask(2, "elicitation/create", {
      mode: "url",
      message: "x",
      url: "https://example.com",
      elicitationId: "1",
    });
    expect(found("2025-11-25", [opening({})], ask(1, "roots/list"))).toEqual([
      "the client has not declared roots",
    ]);
    expect(found("2025-11-25", [opening({ roots: {} })], ask(1, "roots/list"))).toEqual([]);
    expect(found("2025-11-25", [opening({ elicitation: {} })], visit)).toEqual([
      "the client has not declared elicitation.url",
    ]);
    const modern = (capabilities: Fields) =>
      ask(1, "tools/call", { name: "a", _meta: metaOf(capabilities) });
    const asks = reply(1, {
      resultType: "input_required",
      inputRequests: { a: { method: "roots/list" } },
    });
    expect(found(MODERN, [modern({ roots: {} })], asks)).toEqual([]);
    expect(found(MODERN, [modern({})], asks)).toEqual(["the client has not declared roots"]);
  });

  it("requires log messages of the requested level", () => {
    const log = say("notifications/message", { level: "info", data: "x" });
    expect(found("2025-11-25", [], log)).toEqual([]);
    expect(found("2025-11-25", [ask(1, "logging/setLevel", { level: "error" })], log)).toHaveLength(
      1,
    );
    const request = (level: string) =>
      ask(1, "tools/call", {
        name: "a",
        _meta: { ...metaOf({}), "io.modelcontextprotocol/logLevel": level },
      });
    expect(found(MODERN, [request("info")], log)).toEqual([]);
    expect(found(MODERN, [request("error")], log)).toEqual([
      "no request in flight asked for this level",
    ]);
    expect(found(MODERN, [ask(1, "tools/list", { _meta: metaOf({}) })], log)).toHaveLength(1);
  });

  it("allows updates only for subscribers", () => {
    const update = say("notifications/resources/updated", { uri: "a://b" });
    const subscribe = ask(1, "resources/subscribe", { uri: "a://b" });
    const unsubscribe = ask(2, "resources/unsubscribe", { uri: "a://b" });
    expect(found("2025-11-25", [subscribe], update)).toEqual([]);
    expect(found("2025-11-25", [], update)).toEqual(["nobody subscribed to a://b"]);
    expect(found("2025-11-25", [subscribe, unsubscribe], reply(2, {}), update)).toHaveLength(1);
  });

  it("requires subscriptions to be acknowledged, listed and respected", () => {
    const _meta = { "io.modelcontextprotocol/subscriptionId": 5 };
    const listen = ask(5, "subscriptions/listen", { _meta: metaOf({}), notifications: {} });
    const granted = { resourcesListChanged: true, resourceSubscriptions: ["a://b"] };
    const acknowledged = say("notifications/subscriptions/acknowledged", {
      _meta,
      notifications: granted,
    });
    const update = (uri: string) => say("notifications/resources/updated", { _meta, uri });
    const changed = (list: string, meta: Fields = _meta) =>
      say(`notifications/${list}/list_changed`, { _meta: meta });
    expect(found(MODERN, [listen], acknowledged, update("a://b"), changed("resources"))).toEqual(
      [],
    );
    expect(found(MODERN, [listen], update("a://b"))).toEqual([
      "the subscription is not acknowledged yet",
    ]);
    expect(found(MODERN, [listen], acknowledged, acknowledged)).toEqual([
      "the subscription was acknowledged before",
    ]);
    expect(found(MODERN, [listen], acknowledged, update("a://c"))).toEqual([
      "the subscription does not cover it",
    ]);
    expect(found(MODERN, [listen], acknowledged, changed("tools"))).toEqual([
      "the subscription does not cover it",
    ]);
    expect(found(MODERN, [listen], acknowledged, changed("resources", {}))).toEqual([
      "it names no open subscription",
    ]);
    expect(found(MODERN, [], acknowledged)).toEqual(["it names no open subscription"]);
    const cancels = (requestId: unknown) => say("notifications/cancelled", { requestId });
    expect(found(MODERN, [listen], cancels(5))).toEqual([]);
    expect(found(MODERN, [call], cancels(1))).toEqual(["it names no subscription"]);
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
