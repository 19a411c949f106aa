import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { WaitingLine } from "./waiting-line.ts";

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
