import { writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { someOf } from "../../../../../vitest.long.ts";
import { makeTree } from "../../../test/tree.ts";
import { textPattern } from "../search/text-pattern.ts";
import { Threads } from "./thread-pool.ts";

/** Enough work for an hour: the same file over and over. */
const forever = Array.from({ length: 100_000 }, () => "large");

/** Waits until this process has used this much CPU time; this thread only waits, so other threads used it. */
async function worked(milliseconds: number): Promise<void> {
  const before = process.cpuUsage();
  const used = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  await expect.poll(used, { interval: 20 }).toBeGreaterThan(milliseconds);
}

const never = new AbortController().signal;

async function poolWith(files: Record<string, string>, regex: string) {
  const tree = await makeTree(files);
  const pool = new Threads();
  onTestFinished(() => pool.close());
  const pattern = textPattern(regex, { literal: false, ignoreCase: false });
  const count = async (names: string[], signal: AbortSignal) => {
    const request = { from: 1, limit: 0, context: 0 };
    const directories = [{ at: tree.root, names }];
    const { found } = await pool.run("search", { pattern, directories, request }, signal);
    return found.flatMap(({ index, total }) => [index, total]);
  };
  return { tree, pool, count };
}

/** Patterns that would keep a backtracking engine busy forever; the text contains all their letters. */
const BOMBS = [
  "(a+)+$",
  "(a|aa)+b",
  "(.*a){20}x",
  "(a?){50}a{50}b",
  "([a-z]+)*!",
  "(x+x+)+y",
  "[ab]{1,1000}c",
  "a.{900}b",
];

describe("Threads", () => {
  it("handles concurrent requests and keeps their order", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`f${i}`, "x\n".repeat(i)]),
    );
    const { count } = await poolWith(files, "x");
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => count([`f${i}`, "missing"], never)),
    );
    expect(answers).toEqual(Array.from({ length: 40 }, (_, i) => (i === 0 ? [] : [0, i])));
  });

  it.each(someOf(3, BOMBS))("leaves the event loop free while %s is matched", async (bomb) => {
    const { count } = await poolWith({ large: `${"a".repeat(200_000)}-!-b-c-y\n`.repeat(5) }, bomb);
    const controller = new AbortController();
    const running = count(forever, controller.signal);
    const ended = expect(running).rejects.toThrow("taken back");
    await worked(100);
    controller.abort(new Error("taken back"));
    await ended;
  });

  it("terminates a thread when the caller gives up, and continues with another", async () => {
    const { tree, pool, count } = await poolWith({ small: "x" }, "(x+x+)+y");
    await writeFile(tree.at("large"), "x".repeat(400_000));
    const controller = new AbortController();
    const running = Array.from({ length: pool.width + 2 }, () => count(forever, controller.signal));
    const ended = Promise.allSettled(running);
    await worked(100);
    controller.abort(new Error("taken back"));
    const results = await ended;
    expect(
      results.map((result) => (result.status === "rejected" ? result.reason.message : "answered")),
    ).toEqual(running.map(() => "taken back"));
    expect(await count(["small"], never)).toEqual([]);
    await expect(count(["small"], AbortSignal.abort(new Error("too late")))).rejects.toThrow(
      "too late",
    );
  });

  it("rejects pending work when closed", async () => {
    const { tree, pool, count } = await poolWith({}, "(x+x+)+y");
    await writeFile(tree.at("large"), "x".repeat(400_000));
    const running = expect(count(forever, never)).rejects.toThrow("ended");
    await worked(100);
    await pool.close();
    await running;
  });
});
