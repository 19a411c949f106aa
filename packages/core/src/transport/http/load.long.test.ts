import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  eventsOf,
  type HttpProbe,
  heldBytes,
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
    await expect.poll(() => serving.load.requests.used).toBe(300);
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
    expect(serving.load.requests.used).toBe(300);
    vanish.abort();
    await Promise.all(waiting.map((call) => call.catch(() => "gone")));
    await expect.poll(() => serving.load.requests.used).toBe(0);
    await expect.poll(() => aborted(probe)).toBe(300);
  });
});

describe("work for clients", () => {
  it("leaves nothing behind: no session, no memory", async () => {
    const probe = await start();
    const { url } = probe;
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    await everyKindOfRequest(url, 50);
    const before = heldBytes();
    await everyKindOfRequest(url, 200);
    await expect
      .poll(() => probe.serving.load)
      .toMatchObject({ requests: { used: 0 }, sessions: { used: 0 } });
    const grown = heldBytes() - before;
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
