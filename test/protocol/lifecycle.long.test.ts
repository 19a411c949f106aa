import { describe, expect, it } from "vitest";
import { CLIENT_INFO, metaOf } from "./client.ts";
import { conversation } from "./conversation.ts";
import { keyOf } from "./exchange.ts";
import { probeLauncher } from "./probe.ts";
import { Recorder } from "./recorder.ts";
import { type Fields, fieldsAt, LEGACY_REVISIONS, MODERN, REVISIONS } from "./revisions.ts";

const launch = probeLauncher();
/** A call that ends when a second one, with `open`, allows it. */
const gate = (gate: string, open = false) => ({ name: "probe_gate", arguments: { gate, open } });
const slow = (ms: number) => ({ name: "probe_slow", arguments: { ms } });
const codeOf = (reply: Fields | undefined) => fieldsAt(reply, "error").code;
const progressOf = (messages: readonly Fields[]) =>
  messages.filter(({ method }) => method === "notifications/progress");
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
/** The messages of `probe_log`, from the lowest level. */
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical"];

describe.each(REVISIONS)("%s, requests", (revision) => {
  const talk = conversation(() => launch("--roots", "off"), revision);
  const isModern = revision === MODERN;

  /** The notifications that came while a tool ran. */
  async function during(name: string, meta: Fields = {}): Promise<Fields[]> {
    const { recorder } = talk;
    const from = recorder.messages.length;
    const args = name === "probe_slow" ? { ms: 1 } : {};
    await recorder.request("tools/call", { name, arguments: args }, meta);
    await recorder.alive();
    return recorder.messages.slice(from).filter(({ method }) => method !== undefined);
  }

  it.each([0, -1, 9007199254740991, "", "日本 😀"])("with the id %j get it back", async (id) => {
    const { recorder } = talk;
    expect((await recorder.sendRequest({ ...recorder.message("tools/list"), id })).id).toBe(id);
  });

  it("run concurrently and are answered in order of completion", async () => {
    const { recorder } = talk;
    const waiting = recorder.message("tools/call", gate("first"));
    const answer = recorder.sendRequest(waiting);
    await recorder.request("tools/call", slow(1));
    expect(recorder.messages.filter(({ id }) => id === waiting.id)).toEqual([]);
    await recorder.request("tools/call", gate("first", true));
    await answer;
  });

  it("end silently when they are cancelled", async () => {
    const { recorder } = talk;
    const progressToken = "of the cancelled";
    const call = recorder.message("tools/call", slow(60_000), { progressToken });
    const isAbout = (message: Fields) =>
      keyOf(message.id) === keyOf(call.id) ||
      fieldsAt(message, "params").progressToken === progressToken;
    recorder.expect(call);
    recorder.write(JSON.stringify(call));
    await recorder.find(({ method }) => method === "notifications/progress");
    recorder.notify("notifications/cancelled", { requestId: call.id, reason: "No longer needed." });
    const from = recorder.messages.length;
    await recorder.alive();
    expect(recorder.messages.slice(from).filter(isAbout)).toEqual([]);
  });

  it("with an id that is in flight are refused", async () => {
    const { recorder } = talk;
    const call = recorder.message("tools/call", gate("in flight"));
    const from = recorder.messages.length;
    const isAnswer = (message: Fields) => !("method" in message) && message.id === call.id;
    for (const message of [call, { ...recorder.message("tools/list"), id: call.id }]) {
      recorder.expect(message);
      recorder.write(JSON.stringify(message));
    }
    await recorder.find((message) => isAnswer(message) && "error" in message, from);
    await recorder.request("tools/call", gate("in flight", true));
    await recorder.find((message) => isAnswer(message) && "result" in message, from);
    const answers = recorder.messages.slice(from).filter(isAnswer);
    expect(answers.map(codeOf)).toEqual([-32600, undefined]);
  });

  it.each(["token", "", 0, -7])("report progress under the token %j", async (progressToken) => {
    const notes = await during("probe_log", { progressToken });
    const progress = progressOf(notes);
    // How many there are depends on the time between them.
    const all = [0.5, 1, 2].map((done) => ({ progressToken, progress: done }));
    expect(progress[0]?.params).toEqual(all[0]);
    expect(all).toEqual(expect.arrayContaining(progress.map(({ params }) => params)));
  });

  it("report increasing progress that ends with the response, however careless the tool is", async () => {
    const meta = { progressToken: "careless", [LOG_LEVEL]: "debug" };
    const { recorder } = talk;
    const from = recorder.messages.length;
    await during("probe_careless", meta);
    // Opened by the tool's late report.
    await recorder.request("tools/call", gate("too late"));
    const progress = progressOf(recorder.messages.slice(from));
    const values = progress.map(({ params }) => Number(fieldsAt(params).progress));
    expect(values[0]).toBe(1);
    expect([1, 3, 4]).toEqual(expect.arrayContaining(values));
    expect(values).toEqual(values.toSorted((a, b) => a - b));
  });

  it("report no progress without a token, and in the modern era log nothing without a level", async () => {
    const methods = (await during(isModern ? "probe_log" : "probe_slow")).map(
      ({ method }) => method,
    );
    expect(methods).not.toContain("notifications/progress");
    if (isModern) expect(methods).not.toContain("notifications/message");
  });

  it.each(LEVELS)("log from the level %s on", async (level) => {
    if (!isModern)
      expect(await talk.recorder.request("logging/setLevel", { level })).toMatchObject({
        result: {},
      });
    const notes = await during("probe_log", isModern ? { [LOG_LEVEL]: level } : {});
    const logged = notes.filter(({ method }) => method === "notifications/message");
    expect(logged.map(({ params }) => fieldsAt(params).level)).toEqual(
      LEVELS.slice(LEVELS.indexOf(level)),
    );
  });

  it("in batches are answered in a batch by 2025-03-26 and refused by all others", async () => {
    const { recorder } = talk;
    const methods = ["tools/list", "prompts/list", "nothing/such"];
    const calls = methods.map((method) => recorder.message(method));
    const note = { jsonrpc: "2.0", method: "notifications/nothing" };
    // The first list may take a moment; after that all of these are answered at once.
    await recorder.request("tools/list");
    const before = { messages: recorder.messages.length, batches: recorder.batches.length };
    const answersBatches = revision === "2025-03-26";
    if (answersBatches) for (const call of calls) recorder.expect(call);
    recorder.write(JSON.stringify([...calls, note, 5]));
    recorder.write(JSON.stringify([note, note]));
    recorder.write("[]");
    // A batch is answered when its last request is, which may be after a later ping.
    if (answersBatches) await recorder.find(({ id }) => id === calls[0]?.id, before.messages);
    await recorder.alive();
    const since = recorder.messages.slice(before.messages).slice(0, -1);
    if (answersBatches) {
      // The batch of notifications is not answered; the empty one is, by a single error.
      expect(recorder.batches).toHaveLength(before.batches + 1);
      const codes = [-32600, -32600, -32601, undefined, undefined];
      expect(since.map(codeOf).sort()).toEqual(codes.sort());
    } else expect(since.map(codeOf)).toEqual([-32600, -32600, -32600]);
  });
});

describe("2026-07-28, the claims of a request", () => {
  const talk = conversation(() => launch("--roots", "off"), MODERN);

  it.each(["1900-01-01", "2025-11-25", "2024-11-05", "2026-07-28-draft", ""])(
    "are refused for the version %j, for any request, at any time",
    async (version) => {
      for (const method of ["server/discover", "tools/call", "subscriptions/listen", "x/y"]) {
        const params = { ...slow(1), notifications: {}, _meta: metaOf({}, version) };
        const reply = await talk.recorder.sendRequest({ ...talk.recorder.message(method), params });
        expect(codeOf(reply)).toBe(-32022);
        expect(fieldsAt(reply, "error").data).toEqual({ supported: [MODERN], requested: version });
      }
    },
  );
});

describe("the opening", () => {
  const initialize = (recorder: Recorder, protocolVersion: unknown): Fields => {
    const params = { protocolVersion, capabilities: {}, clientInfo: CLIENT_INFO };
    return { ...recorder.message("initialize"), params };
  };

  it.each(["1900-01-01", "2026-07-28", "9999-12-31", "", "latest"])(
    "offers the newest handshake revision to a client of %j",
    async (version) => {
      const recorder = new Recorder(launch(), "2025-11-25");
      const reply = await recorder.sendRequest(initialize(recorder, version));
      expect(fieldsAt(reply, "result").protocolVersion).toBe("2025-11-25");
      recorder.notify("notifications/initialized");
      await recorder.alive();
      expect(await recorder.finish()).toEqual([]);
    },
  );

  it.each(LEGACY_REVISIONS)(
    "of %s comes after a probe of the modern era, in the same process",
    async (revision) => {
      const recorder = new Recorder(launch(), revision);
      const params = { _meta: metaOf({}, "2099-01-01") };
      const probe = { ...recorder.message("server/discover"), params };
      expect(codeOf(await recorder.sendRequest(probe))).toBe(-32022);
      expect((await recorder.open()).protocolVersion).toBe(revision);
      await recorder.alive();
      expect(await recorder.finish()).toEqual([]);
    },
  );

  it("comes after invalid lines", async () => {
    const recorder = new Recorder(launch(), "2025-06-18");
    const lines = ["hello", "[]", "5", '{"jsonrpc":"2.0","method":7}', '{"id":5,"result":{}}', ""];
    for (const line of lines) recorder.write(line);
    await recorder.open();
    expect(recorder.messages.map(codeOf)).toEqual([-32700, -32600, -32600, -32600, undefined]);
    expect(await recorder.finish()).toEqual([]);
  });

  it.each(["server/discover", "subscriptions/listen"])(
    "is not %s without the claims",
    async (method) => {
      const recorder = new Recorder(launch(), "2025-11-25");
      const claimless = { jsonrpc: "2.0", id: 1, method, params: {} };
      expect(codeOf(await recorder.sendRequest(claimless))).toBe(-32602);
      // It did not decide the era.
      const opened = await recorder.sendRequest(initialize(recorder, "2025-11-25"));
      expect(codeOf(opened)).toBeUndefined();
      expect(await recorder.finish()).toEqual([]);
    },
  );

  it("may start with a byte order mark, and its lines may have CRLF endings", async () => {
    const recorder = new Recorder(launch("--roots", "off"), "2025-11-25");
    for (const [mark, message] of [
      ["\ufeff", initialize(recorder, "2025-11-25")],
      ["", recorder.message("ping")],
    ] as const) {
      recorder.expect(message);
      recorder.write(`${mark}${JSON.stringify(message)}\r`);
      expect(await recorder.find(({ id }) => id === message.id)).toHaveProperty("result");
    }
    expect(await recorder.finish()).toEqual([]);
  });

  it("needs nothing before a modern request", async () => {
    const recorder = new Recorder(launch("--roots", "off"), MODERN);
    expect(await recorder.request("tools/call", slow(1))).toHaveProperty("result");
    expect(await recorder.finish()).toEqual([]);
  });
});

describe.each(REVISIONS)("%s, the end of the input", (revision) => {
  it("lets calls in flight finish, and every line is complete", async () => {
    const recorder = new Recorder(launch("--roots", "off"), revision);
    await recorder.open();
    const answers = [1, 100, 400].map((ms) =>
      recorder.request("tools/call", slow(ms), { progressToken: ms }),
    );
    expect(await recorder.finish()).toEqual([]);
    for (const answer of await Promise.all(answers)) expect(answer).toHaveProperty("result");
  });
});
