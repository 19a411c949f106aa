import { randomUUID } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  eventsOf,
  type HttpProbe,
  legacyCall,
  modernCall,
  modernListen,
  openSession,
  post,
  useProbes,
} from "../../../test/fixtures/http.ts";

const { start } = useProbes();

/** Calls that no client waits for, as seen by the tools. */
function aborted(probe: HttpProbe): number {
  return probe.probes[0]?.events.filter((event) => event === "aborted").length ?? 0;
}

/** The answer to a request: JSON, or the last message of a stream. */
async function answerIn(response: Response): Promise<Record<string, unknown> | undefined> {
  let answer: Record<string, unknown> | undefined;
  if (response.headers.get("content-type")?.startsWith("application/json"))
    answer = JSON.parse(await response.text());
  else
    for await (const { message } of eventsOf(response))
      if (!("method" in message)) answer = message;
  return answer;
}

describe("1,000 modern requests at once", () => {
  it("each get their own answer while 300 others wait, whose clients then disconnect", async () => {
    const probe = await start();
    const { url, serving } = probe;
    const vanish = new AbortController();
    const slow = modernCall("probe_slow", { ms: 60_000 });
    const waiting = Array.from({ length: 300 }, () =>
      post(url, slow.message, slow.headers, vanish.signal).then(
        (response) => response.text(),
        () => "gone",
      ),
    );
    await expect.poll(() => serving.load.inFlight).toBe(300);
    const echoed = await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => {
        const { message, headers } = modernCall("probe_echo", { text: `mine-${index}` });
        const response = await post(url, { ...message, id: index }, headers);
        return response.json();
      }),
    );
    for (const [index, answer] of echoed.entries()) {
      expect(answer).toMatchObject({ id: index, result: { content: [{ text: `mine-${index}` }] } });
    }
    expect(serving.load.inFlight).toBe(300);
    vanish.abort();
    await Promise.all(waiting.map((one) => one.catch(() => "gone")));
    await expect.poll(() => serving.load.inFlight).toBe(0);
    await expect.poll(() => aborted(probe)).toBe(300);
    expect(probe.listeners()).toBeLessThanOrEqual(2);
  });
});

describe("200 legacy sessions", () => {
  it("each get their own progress and responses on the same ids", async () => {
    const { url, serving } = await start();
    const sessions = await Promise.all(Array.from({ length: 200 }, () => openSession(url)));
    expect(serving.load.sessions).toBe(200);
    const answers = await Promise.all(
      sessions.map(async (headers, index) => {
        const token = `of-${index}`;
        const slow = legacyCall(5, "probe_slow", { ms: 300 }, { progressToken: token });
        const [echoed, stream] = await Promise.all([
          post(url, legacyCall(6, "probe_echo", { text: `mine-${index}` }), headers).then(answerIn),
          post(url, slow, headers).then(eventsOf),
        ]);
        expect((await stream.next()).value?.message).toMatchObject({
          params: { progressToken: token },
        });
        return [echoed, (await stream.next()).value?.message];
      }),
    );
    for (const [index, [echoed, waited]] of answers.entries()) {
      expect(echoed).toMatchObject({ id: 6, result: { content: [{ text: `mine-${index}` }] } });
      expect(waited).toMatchObject({ id: 5, result: { content: [{ text: "waited" }] } });
    }
    await expect.poll(() => serving.load.inFlight).toBe(0);
    await Promise.all(sessions.map((headers) => fetch(url, { method: "DELETE", headers })));
    expect(serving.load).toMatchObject({ sessions: 0 });
  });
});

describe("work for clients", () => {
  it("leaves nothing behind: no listener, no session, no memory", async () => {
    const probe = await start();
    const { url } = probe;
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    await everyKindOfRequest(url, 50);
    const before = heap();
    const listeners = probe.listeners();
    await everyKindOfRequest(url, 200);
    await expect.poll(() => probe.serving.load).toMatchObject({ inFlight: 0, sessions: 0 });
    expect(probe.listeners()).toBe(listeners);
    const grown = heap() - before;
    process.off("warning", note);
    expect(warnings).toEqual([]);
    // A server of the SDK that stayed would be 20 kB and more, 200 times three.
    expect(grown).toBeLessThan(3_000_000);
  });
});

/** Rounds of a modern call, an abandoned stream, and a session with a call that is never ended. */
async function everyKindOfRequest(url: URL, rounds: number): Promise<void> {
  const lane = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) {
      const { message, headers } = modernCall("probe_echo", { text: randomUUID() });
      await (await post(url, message, headers)).text();
      const listening = modernListen({ resourceSubscriptions: [`probe://item/${randomUUID()}`] });
      const vanish = new AbortController();
      const stream = await post(url, listening.message, listening.headers, vanish.signal);
      await eventsOf(stream).next();
      vanish.abort();
      const session = await openSession(url);
      await (await post(url, legacyCall(2, "probe_echo", { text: randomUUID() }), session)).text();
      await fetch(url, { method: "DELETE", headers: session });
    }
  };
  await Promise.all(Array.from({ length: 10 }, () => lane(rounds / 10)));
}

/** Bytes in use after garbage collection. */
function heap(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
