import { setMaxListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { Deadline } from "./deadline.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const never = () => new Promise<never>(() => undefined);

describe("Deadline", () => {
  it("ends an endless run, whatever garbage collection removes", async () => {
    const caller = new AbortController();
    setMaxListeners(0, caller.signal);
    const races = Array.from({ length: 50 }, () => new Deadline(300, caller.signal).race(never()));
    const outcomes = Promise.allSettled(races);
    for (let round = 0; round < 5; round++) {
      collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: { kind: "timeout" } });
  });

  it("ends when the caller cancels, even if it already had", async () => {
    const caller = new AbortController();
    const race = new Deadline(60_000, caller.signal).race(never());
    caller.abort();
    await expect(race).rejects.toMatchObject({ kind: "cancelled" });
    const late = new Deadline(60_000, caller.signal);
    expect(late.signal.aborted).toBe(true);
    await expect(late.race(never())).rejects.toMatchObject({ kind: "cancelled" });
  });
});
