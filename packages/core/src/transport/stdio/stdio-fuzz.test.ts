import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bundle, bundleServer, Child } from "../../../test/fixtures/child.ts";
import {
  call,
  type Fields,
  initialize,
  modern,
  notification,
  request,
} from "../../../test/fixtures/messages.ts";

/** Random choices, reproducible with a seed (mulberry32). */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0 up to, not including, `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  pick<T>(values: readonly T[]): T {
    const [value] = values.slice(this.below(values.length));
    if (value === undefined) throw new Error("nothing to pick");
    return value;
  }
}

const NUMBERS = [0, -1, 1.5, 1e300, 2 ** 53];
const TEXTS = ["", "x", "\u2028\ud83d\ude00", "__proto__"];
const VALUES = [null, true, ...NUMBERS, ...TEXTS, [], [1], {}, { a: 1 }, { type: "x" }] as const;
const NAMES =
  "id method params _meta jsonrpc result error name arguments cursor uri __proto__".split(" ");
const JUNK = Array.from('\u0000\\"{],é\r \ufeff\u20281-');

/** Well-formed requests of every method, each with its own id. */
function wellFormed(random: Random, id: string): Fields {
  const argument = { name: "a", value: "v" };
  const [method, params] = random.pick<[string, Fields?]>([
    ["ping"],
    ["tools/list", { cursor: "c" }],
    ["tools/call", { name: "echo", arguments: { text: "x" }, _meta: { progressToken: 1 } }],
    ["resources/list"],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "demo:1" }],
    ["resources/subscribe", { uri: "demo:1" }],
    ["prompts/list"],
    ["prompts/get", { name: "p", arguments: { a: "b" } }],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "p" }, argument, context: { arguments: { a: "b" } } },
    ],
    ["logging/setLevel", { level: "info" }],
    [
      "subscriptions/listen",
      { notifications: { toolsListChanged: true, resourceSubscriptions: ["demo:1"] } },
    ],
    ["server/discover", {}],
    ["no/such/method", { a: 1 }],
  ]);
  return request(id, method, params);
}

/** Changes one place of a value. */
function mutate(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random.below(6) === 0)
    return random.pick(VALUES);
  const copy: Fields = { ...value };
  const keys = Object.keys(copy);
  const key = keys[random.below(Math.max(1, keys.length))];
  const action = random.below(4);
  if (key === undefined || action === 0) copy[random.pick(NAMES)] = random.pick(VALUES);
  else if (action === 1) delete copy[key];
  else copy[key] = mutate(random, copy[key]);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

/** Changes some bytes of a line: inserts or replaces one, or drops the rest or a part of it. */
function garble(random: Random, line: Buffer): Buffer {
  const at = random.below(line.length + 1);
  const [piece, skipped] = random.pick([
    ["", line.length],
    [random.pick(JUNK), 0],
    [Uint8Array.of(0x80 + random.below(128)), 1],
    ["", random.below(line.length + 1) - at],
  ] as const);
  return Buffer.concat([line.subarray(0, at), Buffer.from(piece), line.subarray(at + skipped)]);
}

type Expected = { answered: false } | { answered: true; id: unknown };

/** What JSON-RPC 2.0 and MCP require for a line, implemented without the transport's own code. */
function expectedOf(line: Buffer, takesBatches: boolean): Expected[] {
  let value: unknown;
  try {
    // A byte order mark counts as one only at the start of the stream.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
    if (text.trim() === "") return [{ answered: false }];
    value = JSON.parse(text);
  } catch {
    return [{ answered: true, id: undefined }];
  }
  return takesBatches && Array.isArray(value) && value.length > 0
    ? value.map(expectedOfValue)
    : [expectedOfValue(value)];
}

function expectedOfValue(value: unknown): Expected {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { answered: true, id: undefined };
  const isResponse = !("method" in value) && ("result" in value || "error" in value);
  const isNotification =
    "jsonrpc" in value &&
    value.jsonrpc === "2.0" &&
    "method" in value &&
    typeof value.method === "string" &&
    !("id" in value);
  if (isResponse || isNotification) return { answered: false };
  const id = "id" in value ? value.id : undefined;
  const isId = typeof id === "string" || Number.isSafeInteger(id);
  return { answered: true, id: isId ? id : undefined };
}

/** Checks that a line is a valid JSON-RPC message. @returns its id, if it is an answer. */
function checked(message: unknown): Expected {
  expect(message).toMatchObject({ jsonrpc: "2.0" });
  if (typeof message !== "object" || message === null) throw new Error("not an object");
  // Only errors in the earlier revisions have the id null if it is unknown.
  const id =
    "id" in message && !("error" in message && message.id === null) ? message.id : undefined;
  if (id !== undefined) expect(typeof id === "string" || Number.isSafeInteger(id)).toBe(true);
  if ("method" in message) {
    expect(message).not.toHaveProperty(["result"]);
    expect([typeof message.method, id, "error" in message]).toEqual(["string", undefined, false]);
    return { answered: false };
  }
  if ("result" in message) {
    expect([typeof message.result, "error" in message]).toEqual(["object", false]);
    expect(id).toBeDefined();
    return { answered: true, id };
  }
  expect(message).toMatchObject({
    error: { code: expect.any(Number), message: expect.any(String) },
  });
  // A sentence, never the dump of a validator.
  expect(JSON.stringify(message)).not.toContain("invalid_");
  return { answered: true, id };
}

const sorted = (ids: readonly unknown[]) => ids.map((id) => JSON.stringify(id) ?? "none").sort();

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleServer();
});
afterAll(() => bundle.remove());

const COUNT = 6000;

describe("mutated messages", () => {
  it.each([
    ["legacy", 1],
    ["legacy", 2],
    ["modern", 3],
    ["modern", 4],
    ["batches", 5],
    ["batches", 6],
  ] as const)(
    "are each answered once or, correctly, not at all (%s, seed %i)",
    async (era, seed) => {
      const random = new Random(seed);
      const lines: Buffer[] = [];
      while (lines.length < COUNT) {
        const id = `f${lines.length}`;
        const legacy = wellFormed(random, id);
        let message: unknown =
          era === "legacy" ? legacy : modern(id, String(legacy.method), Object(legacy.params));
        if (random.below(20) === 0)
          message = notification("notifications/cancelled", { requestId: "nobody" });
        if (random.below(30) === 0) message = { jsonrpc: "2.0", id: `s${id}`, result: {} };
        if (random.below(40) === 0) message = [message];
        for (let times = random.below(4); times > 0; times--) message = mutate(random, message);
        let line: Buffer = Buffer.from(JSON.stringify(message));
        if (random.below(4) === 0) line = garble(random, line);
        // Its request may or may not have been answered already, so answers could not be counted.
        if (line.includes("cancelled") && !line.includes('"nobody"')) continue;
        if (!line.includes("\n")) lines.push(line);
      }
      const child = new Child(bundle);
      try {
        const revision = era === "batches" ? "2025-03-26" : "2025-11-25";
        child.send(era === "modern" ? modern("init", "tools/list") : initialize(revision));
        await child.next();
        const input = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
        for (let at = 0; at < input.length; ) {
          const size = 1 + random.below(30_000);
          child.process.stdin.write(input.subarray(at, at + size));
          at += size;
        }
        child.send(
          era === "legacy"
            ? call("alive", "echo", { text: "yes" })
            : modern("alive", "tools/call", { name: "echo" }),
        );
        child.process.stdin.end();
        const answers = (await child.rest()).flat().map(checked);
        const expected = lines.flatMap((line) => expectedOf(line, era === "batches"));
        const ids = (all: readonly Expected[]): unknown[] =>
          all.flatMap((line) => (line.answered ? [line.id] : []));
        expect(sorted(ids(answers))).toEqual(sorted([...ids(expected), "alive"]));
        // The generator works: all three outcomes occur, and often.
        const unanswered = expected.filter((line) => !line.answered).length;
        const nameless = expected.filter((line) => line.answered && line.id === undefined).length;
        expect(
          [unanswered, nameless, COUNT - unanswered - nameless].every((fate) => fate > COUNT / 50),
        ).toBe(true);
        expect(await child.exit).toEqual({ code: 0, signal: null });
      } finally {
        await child.kill();
      }
    },
  );
});
