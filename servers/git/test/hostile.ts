import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { type Base, type Found, type Matrix, REMOTE } from "./matrix.ts";
import { canary } from "./traps.ts";
import type { Vector } from "./vectors.ts";

const execute = promisify(execFile);

/** A repository without a trap. */
export const PLAIN: Base = { name: "plain" };

/** What the calls do in the harmless twin. */
export function control(ours: Matrix, base: Base, only?: readonly string[]): Promise<Map<string, Found>> {
  const nothing = (): void => undefined;
  const name = [base.name, ...(only ?? [])].join("-");
  return ours.run(ours.place.path("control", name), base, nothing, nothing, only);
}

/**
 * Sets a trap, shows that plain git falls into it, and that no call does: nothing is executed, and every answer and what it
 * leaves is that of the harmless twin.
 *
 * @param right what the calls do in the harmless twin
 * @param only the tools that are called; all of them by default
 */
export async function resists(
  ours: Matrix,
  vector: Vector,
  right: ReadonlyMap<string, Found>,
  only?: readonly string[],
): Promise<void> {
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

  const noteExecution = (call: string): void =>
    expect(existsSync(log) ? `${call}: ${readFileSync(log, "utf8")}` : "").toBe("");
  const got = await ours.run(join(folder, "hostile"), base, plant, noteExecution, only);
  expect([...got.keys()]).toEqual([...right.keys()]);
  expect(got.size).toBeGreaterThan(0);
  for (const [call, { outcome, state }] of got) {
    const isRefused = vector.refusedRemote === true && REMOTE.has(call.split(" ", 1)[0] ?? "");
    const expected = right.get(call);
    if (/filter|submodule/.test(vector.name) && outcome.startsWith("error filter_needed")) continue;
    if (isRefused) expect(outcome.split("\n", 1), call).toEqual(["error unsafe_config"]);
    else expect({ outcome, state }, call).toEqual(expected);
  }
}
