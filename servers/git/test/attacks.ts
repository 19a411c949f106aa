import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { git } from "./fixture.ts";
import { isReading, type Matrix, matrix, type Outcome, REMOTE, type ToolCall } from "./matrix.ts";
import { canary } from "./traps.ts";
import type { Vector } from "./vectors.ts";

const execute = promisify(execFile);
const REFUSALS =
  /^error (unsafe_config|protocol_not_allowed|host_not_allowed|remote_unreachable|bad_url)/;

/** Which tools a kind of trap can affect (the others never get that far), and which answers may refuse it. */
const KINDS = {
  any: { affects: () => true, refuses: () => false },
  filter: {
    affects: (tool: string) => !REMOTE.has(tool) && tool !== "git_clone",
    refuses: (_: string, answer: string) => answer.startsWith("error filter_needed"),
  },
  remote: {
    affects: (tool: string) => REMOTE.has(tool) || isReading(tool) || tool === "git_checkout",
    refuses: (tool: string, answer: string) => REMOTE.has(tool) && REFUSALS.test(answer),
  },
  refused: {
    affects: () => true,
    refuses: (_: string, answer: string) => answer === "error unsafe_config",
  },
};
/** A diff lists the files whose filter did not run. */
const NOTE = /; Filters that did not run .*?unchanged/;

/** Tests that plain git falls into each trap, and that no call does. */
export function testAttacks(
  selected: readonly Vector[],
  calls: readonly ToolCall[],
  options: { timeout?: number } = {},
): void {
  let ours: Matrix;
  /** The outcome of every call in a repository without traps. */
  let twin: Map<string, Outcome>;
  beforeAll(async () => {
    ours = await matrix();
    const nothing = () => [];
    twin = await ours.run(ours.place.path("twin"), calls, nothing, nothing);
  }, options.timeout);
  afterAll(() => ours.dispose());

  const canaries = new Map<Vector, ReturnType<typeof canary>>();
  /** The vector's own program, which logs that it was run, and by whom. */
  function trapOf(vector: Vector): ReturnType<typeof canary> {
    const folder = ours.place.path("evil", vector.name.replaceAll(/\W/g, "-"));
    const trap = canaries.get(vector) ?? canary(folder);
    canaries.set(vector, trap);
    return trap;
  }

  /** Which traps were triggered since the last check. */
  function triggered(vectors: readonly Vector[]): string[] {
    const ran = vectors.filter((vector) => existsSync(trapOf(vector).log));
    for (const vector of ran) rmSync(trapOf(vector).log);
    return ran.map(({ name }) => name);
  }

  function keysOf(root: string): Map<string, string> {
    const lines = git(root, "config", "--local", "--list", "-z").split("\0");
    return new Map(lines.map((line) => [line.split("\n", 1)[0] ?? "", line]));
  }

  /** Groups of vectors that fit into one repository: they don't set the same key to different values. */
  function makeLoads(kind: Vector["kind"]): Vector[][] {
    const loads: { keys: Map<string, string>; vectors: Vector[] }[] = [];
    for (const vector of selected.filter((trap) => trap.kind === kind)) {
      const root = ours.copy(ours.place.path("look"), false, false);
      const before = keysOf(root);
      vector.plant(root, trapOf(vector).program);
      const keys = [...keysOf(root)].filter(([key, value]) => before.get(key) !== value);
      const isFree = (load: (typeof loads)[number]) =>
        keys.every(([key, value]) => (load.keys.get(key) ?? value) === value);
      const load = loads.find(isFree) ?? {
        keys: new Map<string, string>(),
        vectors: [] as Vector[],
      };
      if (load.vectors.length === 0) loads.push(load);
      load.vectors.push(vector);
      for (const [key, value] of keys) load.keys.set(key, value);
    }
    return loads.map(({ vectors }) => vectors);
  }

  describe("the trap repository", options, () => {
    it("has a twin without traps in which every tool works", () => {
      const failed = [...twin].filter(
        ([call, { answer }]) => answer.startsWith("error") && !/partial|locked/.test(call),
      );
      expect(failed.map(([call, { answer }]) => `${call} ${answer.split("\n", 1)[0]}`)).toEqual([]);
      // It is not fetched: no promisor, no transport.
      const missing = twin.get('git_show {"revision":"partial"}');
      expect(missing?.answer).toBe("error missing_object");
      for (const [call, { answer }] of twin)
        if (/^git_(fetch|push)/.test(call) && !/locked|partial/.test(call))
          expect(answer, call).toMatch(
            /refs\/(heads|remotes)\/|origin\/feature is at|"updated":\[\]/,
          );
    });

    it("contains traps, and plain git falls into each", async () => {
      const missed: string[] = [];
      const [version = ""] = /\d[\d.]*/.exec(git(ours.place.folder, "--version")) ?? [];
      const isHere = ({ since = "" }: Vector) =>
        since.localeCompare(version, "en", { numeric: true }) <= 0;
      for (const vector of selected.filter(isHere)) {
        const root = ours.copy(ours.place.path("victim"), false);
        vector.setup?.(root);
        vector.plant(root, trapOf(vector).program);
        const env = { PATH: process.env.PATH, HOME: ours.place.home, GIT_TERMINAL_PROMPT: "0" };
        // Not synchronously, because the remote is in this process. The command may fail; only what it ran counts.
        for (const command of vector.triggers)
          await execute("git", command, { cwd: root, env }).catch(() => undefined);
        if (triggered([vector]).length === 0) missed.push(vector.name);
      }
      expect(missed).toEqual([]);
    });
  });

  // A test for each kind: together they outlast the time limit on a slow machine.
  describe.each(["any", "filter", "remote", "refused"] as const)(
    "traps of kind %s",
    options,
    (kind) => {
      it("makes no tool execute anything, and every response equals that of the twin", async () => {
        const { affects, refuses } = KINDS[kind];
        const loads = makeLoads(kind);
        expect(loads).not.toEqual([]);
        for (const vectors of loads) {
          const plant = (root: string) => {
            for (const vector of vectors) vector.plant(root, trapOf(vector).program);
          };
          const chosen = calls.filter(({ tool }) => affects(tool));
          const executed = () => triggered(vectors);
          const outcomes = await ours.run(ours.place.path("hostile"), chosen, plant, executed);
          const wrong: Record<string, unknown> = {};
          const right: Record<string, unknown> = {};
          for (const [call, { answer, state, executed }] of outcomes) {
            const wanted = twin.get(call);
            const isRefused = refuses(call.split(" ", 1)[0] ?? "", answer);
            const shown = { answer: answer.replace(NOTE, ""), state, executed };
            wrong[call] = isRefused ? { ...wanted, executed } : shown;
            right[call] = wanted;
          }
          expect(wrong, vectors.map(({ name }) => name).join(" + ")).toEqual(right);
        }
      });
    },
  );
}
