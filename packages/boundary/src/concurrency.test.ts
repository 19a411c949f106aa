import { expect, it } from "vitest";
import { ConcurrencyLimit } from "./concurrency.ts";

it("runs tasks in order, and skips cancelled callers", async () => {
  const limit = new ConcurrencyLimit(1);
  const done: string[] = [];
  const run = (name: string, signal: AbortSignal, until?: Promise<void>): Promise<void> =>
    limit.run("host", signal, async () => {
      await until;
      done.push(name);
    });
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
});
