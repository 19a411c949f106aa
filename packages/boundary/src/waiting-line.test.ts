import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { keyedLock, WaitingLine } from "./waiting-line.ts";

it("hands values over in the order of the callers, and skips those that left", async () => {
  const line = new WaitingLine<string>();
  const leaving = new AbortController();
  const { signal } = new AbortController();
  const first = line.wait(signal);
  const second = line.wait(leaving.signal);
  const third = line.wait(signal);
  expect(line.size).toBe(3);
  leaving.abort(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  expect([line.hand("a"), line.hand("b"), line.hand("c")]).toEqual([true, true, false]);
  expect(await Promise.all([first, third])).toEqual(["a", "b"]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("does not let in a caller whose signal has aborted", async () => {
  const line = new WaitingLine();
  await expect(line.wait(AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
  expect(line.hand()).toBe(false);
});

describe("keyedLock", () => {
  it("runs work with the same key in sequence, even after a failure, and other keys in parallel", async () => {
    const lock = keyedLock();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await setImmediate();
      events.push(`${name} ends`);
      if (name === "failing") throw new Error("failed");
      return name;
    };
    const results = await Promise.allSettled([
      lock("a", work("failing")),
      lock("a", work("second")),
      lock("b", work("other")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(events.indexOf("failing ends")).toBeLessThan(events.indexOf("second begins"));
    expect(events.indexOf("other begins")).toBeLessThan(events.indexOf("failing ends"));
    expect(await lock("a", work("later"))).toBe("later");
  });
});
