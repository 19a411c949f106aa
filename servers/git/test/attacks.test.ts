import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Base, type Found, type Matrix, matrix, REMOTE } from "./matrix.ts";
import { canary } from "./traps.ts";
import { VECTORS } from "./vectors.ts";

const PLAIN: Base = { name: "plain" };
const execute = promisify(execFile);

let ours: Matrix;
beforeAll(async () => {
  ours = await matrix();
});
afterAll(() => ours.dispose());

const controls = new Map<string, Promise<Map<string, Found>>>();

/** What the calls do in the harmless twin. */
function control(base: Base): Promise<Map<string, Found>> {
  const known = controls.get(base.name);
  if (known !== undefined) return known;
  const nothing = (): void => undefined;
  const found = ours.run(ours.place.path("control", base.name), base, nothing, nothing);
  controls.set(base.name, found);
  return found;
}

describe("a hostile repository", { timeout: 300_000 }, () => {
  it("has a twin in which every tool does real work, transfers too, so that no error hides an execution", async () => {
    const found = await control(PLAIN);
    const failed = [...found].filter(([, { outcome }]) => outcome.startsWith("error"));
    expect(failed.map(([call, { outcome }]) => `${call} ${outcome.split("\n", 1)[0]}`)).toEqual([]);
    for (const [call, { outcome }] of found)
      if (/^git_(fetch|push)/.test(call))
        expect(outcome, call).toMatch(/refs\/(heads|remotes)\/|origin\/feature is at/);
  });

  it.each(VECTORS)("executes nothing on any tool, and every answer is right: $name", async (vector) => {
    const base = vector.base ?? PLAIN;
    const folder = ours.place.path(vector.name.replaceAll(/\W/g, "-"));
    const { program, log } = canary(join(folder, "evil"));
    const plant = (root: string): void => vector.plant(root, program);

    // The trap works: plain git falls into it. Not synchronously, because the remote lives in this process.
    const victim = ours.copy(base, join(folder, "victim"), false);
    plant(victim);
    const env = { PATH: process.env.PATH, HOME: ours.place.home, GIT_TERMINAL_PROMPT: "0" };
    for (const command of vector.springs) {
      // It may well fail; what counts is what it ran.
      await execute("git", command, { cwd: victim, env }).catch(() => undefined);
    }
    expect(existsSync(log), `${vector.name} is no trap`).toBe(true);
    rmSync(log);

    const right = await control(base);
    const got = await ours.run(join(folder, "hostile"), base, plant, (call) => {
      expect(existsSync(log) ? `${call}: ${readFileSync(log, "utf8")}` : "").toBe("");
    });
    expect([...got.keys()]).toEqual([...right.keys()]);
    for (const [call, { outcome, state }] of got) {
      const isRefused = vector.refusedRemote === true && REMOTE.has(call.split(" ", 1)[0] ?? "");
      const expected = right.get(call);
      if (isRefused) expect(outcome.split("\n", 1), call).toEqual(["error unsafe_config"]);
      else expect({ outcome, state }, call).toEqual(expected);
    }
  });
});
