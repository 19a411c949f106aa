import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tools } from "../src/tools/index.ts";
import { EVERYTHING } from "./bases.ts";
import { git } from "./fixture.ts";
import { type Found, type Matrix, matrix, REMOTE, type ToolCall } from "./matrix.ts";
import { canary } from "./traps.ts";
import type { Vector } from "./vectors.ts";

const execute = promisify(execFile);
const REFUSALS =
  /^error (unsafe_config|protocol_not_allowed|host_not_allowed|remote_unreachable|bad_url)/;

/** The tools that each kind of payload can affect; the others never get that far. */
const TOOLS: Readonly<Record<Load["kind"], readonly string[] | undefined>> = {
  any: undefined,
  filter: tools.map(({ name }) => name).filter((name) => !REMOTE.has(name) && name !== "git_clone"),
  all: undefined,
  refused: [
    ...REMOTE,
    ...tools.filter(({ effect }) => effect === "read").map(({ name }) => name),
    "git_checkout",
  ],
};

interface Load {
  readonly kind: "any" | "filter" | "refused" | "all";
  readonly keys: Map<string, string>;
  readonly vectors: Vector[];
}

/** What a test of the traps covers. */
export interface Attacks {
  readonly vectors: readonly Vector[];
  readonly calls: readonly ToolCall[];
  /** How long each of these tests may take, in milliseconds. */
  readonly timeout?: number;
}

/** Tests that plain git falls into each trap, and that no call does. */
export function testAttacks({ vectors: selected, calls, timeout }: Attacks): void {
  const options = timeout === undefined ? {} : { timeout };
  let ours: Matrix;
  /** The outcome of every call in a repository without traps. */
  let twin: Map<string, Found>;
  beforeAll(async () => {
    ours = await matrix();
    twin = await ours.run(
      ours.place.path("twin"),
      EVERYTHING,
      calls,
      () => undefined,
      () => undefined,
    );
  }, timeout);
  afterAll(() => ours.dispose());

  const canaries = new Map<Vector, ReturnType<typeof canary>>();
  /** The vector's own program, which logs that it was run, and by whom. */
  function trapOf(vector: Vector): ReturnType<typeof canary> {
    const trap =
      canaries.get(vector) ?? canary(ours.place.path("evil", vector.name.replaceAll(/\W/g, "-")));
    canaries.set(vector, trap);
    return trap;
  }

  /** Sets the traps, all in one repository. */
  const plantAll =
    (vectors: readonly Vector[]) =>
    (root: string): void => {
      for (const vector of vectors) vector.plant(root, trapOf(vector).program);
    };

  /** Which traps were triggered since the last check. */
  function triggered(vectors: readonly Vector[]): string[] {
    return vectors
      .filter((vector) => {
        const { log } = trapOf(vector);
        const ran = existsSync(log);
        rmSync(log, { force: true });
        return ran;
      })
      .map(({ name }) => name);
  }

  /** A diff lists the files whose filter did not run. */
  const withoutNote = (outcome: string): string =>
    outcome.replace(/; Filters that did not run .*?unchanged/, "");

  /**
   * Groups of vectors that fit into one repository: they don't set the same key to different values, and none makes tools refuse
   * that the others need.
   */
  function makeLoads(): Load[] {
    const found: Load[] = [];
    for (const vector of selected) {
      const root = ours.copy(vector.base ?? EVERYTHING, ours.place.path("look"), false, false);
      const before = keysOf(root);
      vector.plant(root, trapOf(vector).program);
      const keys = new Map([...keysOf(root)].filter(([key, value]) => before.get(key) !== value));
      const ofRemote = vector.refusedRemote ? "refused" : "any";
      const kind = vector.refused ? "all" : vector.filter ? "filter" : ofRemote;
      const isFree = (load: Load) =>
        load.kind === kind &&
        [...keys].every(([key, value]) => (load.keys.get(key) ?? value) === value);
      const load: Load = found.find(isFree) ?? { kind, keys: new Map(), vectors: [] };
      if (load.vectors.length === 0) found.push(load);
      load.vectors.push(vector);
      for (const [key, value] of keys) load.keys.set(key, value);
    }
    return found;
  }

  let loads: readonly Load[] | undefined;

  function keysOf(root: string): Map<string, string> {
    const lines = git(root, "config", "--local", "--list", "-z").split("\0");
    return new Map(lines.map((line) => [line.split("\n", 1)[0] ?? "", line]));
  }

  /** The problems in a repository with these traps: executed programs, and answers that differ from the twin's. */
  async function faults(
    name: string,
    vectors: readonly Vector[],
    only?: readonly string[],
  ): Promise<Map<string, string>> {
    const wrong = new Map<string, string>();
    const noteExecution = (call: string): void => {
      const ran = triggered(vectors);
      if (ran.length > 0) wrong.set(call, `executed: ${ran.join(", ")}`);
    };
    const got = await ours.run(
      ours.place.path(name),
      EVERYTHING,
      calls.filter(({ tool }) => only?.includes(tool) ?? true),
      plantAll(vectors),
      noteExecution,
    );
    for (const [call, { outcome, state }] of got) {
      const expected = twin.get(call);
      const tool = call.split(" ", 1)[0] ?? "";
      if (vectors.some(({ refused }) => refused) && outcome === "error unsafe_config") continue;
      if (vectors.some(({ filter }) => filter) && outcome.startsWith("error filter_needed"))
        continue;
      if (
        vectors.some(({ refusedRemote }) => refusedRemote) &&
        REMOTE.has(tool) &&
        REFUSALS.test(outcome)
      )
        continue;
      if (
        wrong.has(call) ||
        (withoutNote(outcome) === expected?.outcome && String(state) === String(expected.state))
      )
        continue;
      const mine = [outcome, ...state].join("\n").split("\n");
      const theirs = [expected?.outcome, ...(expected?.state ?? [])].join("\n").split("\n");
      const [here, there] = [
        mine.filter((line) => !theirs.includes(line)),
        theirs.filter((line) => !mine.includes(line)),
      ];
      wrong.set(call, `${here.join("\n")}\ninstead of\n${there.join("\n")}`);
    }
    return wrong;
  }

  describe("the trap repository", options, () => {
    it("has a twin without traps in which every tool works", () => {
      const failed = [...twin].filter(
        ([call, { outcome }]) => outcome.startsWith("error") && !/partial|locked/.test(call),
      );
      expect(failed.map(([call, { outcome }]) => `${call} ${outcome.split("\n", 1)[0]}`)).toEqual(
        [],
      );
      for (const [call, { outcome }] of twin)
        if (/^git_(fetch|push)/.test(call) && !/locked|partial/.test(call))
          expect(outcome, call).toMatch(
            /refs\/(heads|remotes)\/|origin\/feature is at|"updated":\[\]/,
          );
    });

    it("contains traps, each of which plain git falls into", async () => {
      const missed: string[] = [];
      const [version = ""] = /\d[\d.]*/.exec(git(ours.place.folder, "--version")) ?? [];
      const isHere = ({ since = "" }: Vector) =>
        since.localeCompare(version, "en", { numeric: true }) <= 0;
      for (const vector of selected.filter(isHere)) {
        const root = ours.copy(vector.base ?? EVERYTHING, ours.place.path("victim"), false);
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
  describe.each(["any", "filter", "refused", "all"] as const)(
    "traps of kind %s",
    options,
    (kind) => {
      it("makes no tool execute anything, and every response equals that of the twin", async () => {
        const found: string[] = [];
        loads ??= makeLoads();
        const group = loads.filter((load) => load.kind === kind);
        expect(group).not.toEqual([]);
        for (const { vectors } of group) {
          for (const [call, what] of await faults("hostile", vectors, TOOLS[kind])) {
            found.push(`${call} with ${vectors.map(({ name }) => name).join(" + ")}: ${what}`);
          }
        }
        expect(found).toEqual([]);
      });
    },
  );
}
