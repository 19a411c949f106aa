import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import type { Task } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { SERVERS, serverBin, serverFolder, serverWorld } from "../servers.ts";
import { solve } from "./model.ts";

const MODEL = process.env["REFMCP_EVAL_MODEL"] ?? "";
const chosen = process.env["REFMCP_EVAL_SERVERS"]?.split(",") ?? SERVERS;
const api = new Anthropic();

for (const name of chosen) {
  const file = join(serverFolder(name), "evals", "tasks.ts");
  const { tasks }: { tasks: readonly Task[] } = await import(pathToFileURL(file).href);
  describe(`${MODEL} with the ${name} server`, () => {
    it.each(tasks.map((task) => [task.name, task] as const))("%s", async (_name, task) => {
      const world = await serverWorld(name);
      try {
        const verdict = await solve(api, MODEL, serverBin(name), task, world);
        process.stderr.write(
          `${verdict.calls.length} calls, ${verdict.errors} failed, ${verdict.tokens} tokens: ${task.name}\n`,
        );
        expect(verdict.passed, `${verdict.calls.join(", ")}: ${verdict.answer}`).toBe(true);
      } finally {
        await world.dispose();
      }
    });
  });
}
