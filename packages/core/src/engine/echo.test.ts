import { afterEach, describe, expect, it } from "vitest";
import {
  call,
  claim,
  type Fields,
  initialize,
  modern,
  request,
} from "../../test/fixtures/messages.ts";
import { probeServer } from "../../test/fixtures/probe.ts";
import { Wire } from "../../test/fixtures/wire.ts";
import { bind } from "../run/prepare.ts";
import { META } from "./wire.ts";

const BIG = "x".repeat(5_500_000);
/** No refusal may be longer, in characters. */
const SMALL = 2_500;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function probeWire(...first: unknown[]): Promise<{ wire: Wire; log: () => string }> {
  const log: string[] = [];
  const writeLog = (line: string) => void log.push(line);
  const { service, close } = await bind(probeServer(), { writeLog });
  const wire = new Wire({ note: (line) => service.log.warning(line) }, service);
  open.push(async () => {
    await wire.handle.close();
    await close();
  });
  for (const message of first) {
    wire.send(message);
    await wire.nextLine();
  }
  return { wire, log: () => log.join("") };
}

const withMeta = (meta: Fields, method = "ping", params: Fields = {}) =>
  request(1, method, { ...params, _meta: { ...claim(), ...meta } });
const capabilities = (value: unknown) => withMeta({ [META.capabilities]: value });

/** Requests that repeat a string of 5.5 MB, in either era. */
const EITHER: readonly (readonly [what: string, message: unknown])[] = [
  ["no JSON", BIG],
  ["no object", JSON.stringify(BIG)],
  ["jsonrpc", { ...request(1, "ping"), jsonrpc: BIG }],
  ["an id", request(BIG, "ping")],
  ["params", { ...request(1, "ping"), params: BIG }],
  ["_meta", request(1, "ping", { _meta: BIG })],
  ["a progress token", withMeta({ progressToken: BIG })],
  ["a related task", withMeta({ [META.relatedTask]: BIG })],
  ["a claimed version", withMeta({ [META.version]: BIG })],
  ["capabilities", capabilities(BIG)],
  ["a capability", capabilities({ roots: BIG })],
  ["an unknown method without capabilities", withMeta({ [META.capabilities]: undefined }, BIG)],
];

const MODERN: typeof EITHER = [
  ["a method", modern(1, BIG)],
  ["a method without a version", request(1, BIG)],
  ["initialize in another era", initialize(BIG)],
  ["a tool", modern(1, "tools/call", { name: BIG })],
  ["a state", modern(1, "tools/call", { name: "probe_wipe", requestState: BIG })],
  ["answers", modern(1, "tools/call", { name: "probe_wipe", inputResponses: BIG })],
  [
    "a filter",
    modern(1, "subscriptions/listen", { notifications: { resourceSubscriptions: BIG } }),
  ],
  ["a log level", withMeta({ [META.logLevel]: BIG }, "tools/list")],
  ["a client's name", withMeta({ [META.clientInfo]: { name: BIG, version: 1 } }, "tools/list")],
];

describe("what a client sent is not repeated at length", () => {
  it.each([...EITHER, ["a version", initialize(BIG)] as const])(
    "%s, first",
    async (_what, message) => {
      const { wire, log } = await probeWire();
      wire.send(message);
      expect((await wire.nextLine()).length).toBeLessThan(SMALL);
      expect(log().length).toBeLessThan(SMALL);
    },
  );

  it.each([...EITHER, ...MODERN])("%s, in 2026-07-28", async (_what, message) => {
    const { wire, log } = await probeWire(modern(0, "server/discover"));
    wire.send(message);
    expect((await wire.nextLine()).length).toBeLessThan(SMALL);
    expect(log().length).toBeLessThan(SMALL);
  });

  it("in logs, for messages that are not answered", async () => {
    const { wire, log } = await probeWire(initialize());
    const answers = await wire.answers([
      { jsonrpc: "2.0", method: BIG, params: BIG },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: BIG } },
      { jsonrpc: "2.0", id: BIG, result: {} },
      { jsonrpc: "2.0", id: 5, error: { code: BIG } },
      { jsonrpc: BIG, id: 5, result: {} },
    ]);
    expect(answers).toEqual([]);
    expect(log().length).toBeLessThan(SMALL);
  });

  it("in errors that a client answers", async () => {
    const { wire } = await probeWire(initialize("2025-11-25", { elicitation: {} }));
    wire.send(call(1, "probe_wipe"));
    const { id } = await wire.next();
    wire.send({ jsonrpc: "2.0", id, error: { code: 1, message: BIG } });
    expect((await wire.nextLine()).length).toBeLessThan(SMALL);
  });

  it("in the state that carries a user's answers, which are refused if they are long", async () => {
    const asks = { [META.capabilities]: { elicitation: { form: {} } } };
    const wipe = (more: Fields = {}) =>
      withMeta(asks, "tools/call", { name: "probe_wipe", ...more });
    const { wire } = await probeWire();
    wire.send(wipe());
    const { result } = await wire.next();
    const [key = ""] = Object.keys(Object(result?.inputRequests));
    const answer = (content: Fields) => ({
      action: "accept",
      content: { confirm: true, ...content },
    });
    const { requestState } = Object(result);
    wire.send(
      wipe({ requestState, inputResponses: { [key]: answer({}), unasked: BIG, [BIG]: 1 } }),
    );
    const next = await wire.nextLine();
    expect(next).toContain("input_required");
    expect(next.length).toBeLessThan(SMALL);
    wire.send(wipe({ requestState, inputResponses: { [key]: answer({ more: BIG }) } }));
    const last = await wire.nextLine();
    expect(last).toContain("The user's answers are too long");
    expect(last.length).toBeLessThan(SMALL);
  });
});
