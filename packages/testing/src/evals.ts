import type { AnyServer } from "@refmcp/core";
import { describe, expect, it } from "vitest";
import { connectInMemory } from "./connect.ts";
import type { World } from "./contract.ts";
import { withCheckedOutput } from "./output-keys.ts";
import { textOf } from "./surface.ts";

/** Calls a tool and returns its text; throws if the tool fails. */
export type CallTool = (name: string, args?: Readonly<Record<string, unknown>>) => Promise<string>;

/**
 * A task as a person would give it to an assistant that has this server. `check` judges a model's result. The scripted
 * `reference` shows that the tools suffice and that `check` accepts a good result.
 */
export interface Task {
  readonly name: string;
  /** The person's request; a function of the world if it contains something from it, for example an address. */
  readonly prompt: string | ((world: World) => string);
  /** Options of the server in addition to the world's, for example `--read-only`. */
  readonly args?: readonly string[];
  /** Solves the task with tool calls only; returns the answer for the person. */
  reference(call: CallTool, world: World): Promise<string>;
  /** Whether the answer and the state of the world are correct. */
  check(answer: string, world: World): boolean | Promise<boolean>;
}

/** A new server starts with a few tasks; one with more tools has one for each tool. */
const MIN_TASKS = 3;
const MAX_ASKED = 8;
const MAX_TASKS = 15;

/** Runs the reference solution of every task in a new world. */
export function evals(
  server: AnyServer,
  tasks: readonly Task[],
  makeWorld: () => Promise<World>,
): void {
  describe(`${server.name}: tasks`, () => {
    const enough = Math.min(Math.max(MIN_TASKS, server.tools.length), MAX_ASKED);
    it(`are ${enough} to ${MAX_TASKS}, each with its own name`, () => {
      expect(
        tasks.length,
        `evals/tasks.ts has too few tasks: write ${MIN_TASKS}, or one for each tool if there are more, up to ${MAX_ASKED}`,
      ).toBeGreaterThanOrEqual(enough);
      expect(
        tasks.length,
        "Keep only the tasks that distinguish good tools from bad ones",
      ).toBeLessThanOrEqual(MAX_TASKS);
      expect(new Set(tasks.map((task) => task.name)).size, "Two tasks have the same name").toBe(
        tasks.length,
      );
    });

    it.each(tasks.map((task) => [task.name, task] as const))("%s", async (_name, task) => {
      const world = await makeWorld();
      const { client, close } = await connectInMemory(withCheckedOutput(server), {
        args: [...world.args, ...(task.args ?? [])],
        ...(world.env === undefined ? {} : { env: world.env }),
        elicit: () => ({ action: "accept", content: { confirm: true } }),
      });
      try {
        expect(
          await task.check("", world),
          "check accepts an empty answer in an untouched world: make it stricter",
        ).toBe(false);
        const answer = await task.reference(async (name, args = {}) => {
          const result = await client.callTool({ name, arguments: { ...args } });
          const text = textOf(result);
          if (result.isError === true) throw new Error(`${name}: ${text}`);
          return text;
        }, world);
        expect(
          await task.check(answer, world),
          `check rejects the reference's answer: ${answer}`,
        ).toBe(true);
      } finally {
        await close();
        await world.dispose();
      }
    });
  });
}
