import { expect, it } from "vitest";
import { Turns } from "./turns.ts";

it("gives turns in order, and skips cancelled callers", async () => {
  const turns = new Turns(1);
  const done: string[] = [];
  const take = (name: string, signal: AbortSignal, until?: Promise<void>): Promise<void> =>
    turns.take("host", signal, async () => {
      await until;
      done.push(name);
    });
  const stays = new AbortController().signal;
  const leaves = new AbortController();
  let finish = (): void => undefined;
  const first = take("first", stays, new Promise((resolve) => (finish = resolve)));
  const second = take("second", leaves.signal);
  const third = take("third", stays);
  leaves.abort(new Error("gone"));
  // While the first is still running.
  await expect(second).rejects.toThrow("gone");
  expect(done).toEqual([]);
  finish();
  await Promise.all([first, third]);
  expect(done).toEqual(["first", "third"]);
  await expect(take("late", leaves.signal)).rejects.toThrow("gone");
  await take("last", stays);
});
