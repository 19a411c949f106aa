import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Line } from "./line.ts";

describe("a line", () => {
  it("runs work in order, and skips callers that left", async () => {
    const line = new Line();
    const done: string[] = [];
    const run = (name: string, signal: AbortSignal, until?: Promise<void>): Promise<void> =>
      line.run(
        "host",
        async () => {
          await until;
          done.push(name);
        },
        signal,
      );
    const stays = new AbortController().signal;
    const leaves = new AbortController();
    let finish = (): void => undefined;
    const first = run("first", stays, new Promise((resolve) => (finish = resolve)));
    const second = run("second", leaves.signal);
    const third = run("third", stays);
    leaves.abort(new Error("gone"));
    // While the first is still running.
    await expect(second).rejects.toThrow("gone");
    expect(done).toEqual([]);
    finish();
    await Promise.all([first, third]);
    expect(done).toEqual(["first", "third"]);
    await expect(run("late", leaves.signal)).rejects.toThrow("gone");
    await run("last", stays);
    expect(getEventListeners(stays, "abort")).toEqual([]);
  });

  it("runs as much work at a time as it has places", async () => {
    const line = new Line(2);
    let [running, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++running);
      await setImmediate();
      running -= 1;
    };
    await Promise.all(Array.from({ length: 9 }, () => line.run("", work)));
    expect([running, most]).toEqual([0, 2]);
  });

  it("runs work with the same key in sequence, even after a failure, and other keys in parallel", async () => {
    const line = new Line();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await setImmediate();
      events.push(`${name} ends`);
      if (name === "failing") throw new Error("failed");
      return name;
    };
    const results = await Promise.allSettled([
      line.run("a", work("failing")),
      line.run("a", work("second")),
      line.run("b", work("other")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(events.indexOf("failing ends")).toBeLessThan(events.indexOf("second begins"));
    expect(events.indexOf("other begins")).toBeLessThan(events.indexOf("failing ends"));
    expect(await line.run("a", work("later"))).toBe("later");
  });
});
