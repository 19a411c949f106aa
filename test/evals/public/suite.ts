import Anthropic from "@anthropic-ai/sdk";
import { afterAll, it } from "vitest";
import { readTasks } from "./benchmark.ts";
import { PublicRun } from "./run.ts";
import { solutions } from "./solutions/index.ts";

const checkout = process.env["REFMCP_PUBLIC_EVALS"] ?? "";
const filters = process.env["REFMCP_PUBLIC_FILTERS"]?.split(",").filter((one) => one !== "") ?? [];
const name = process.env["REFMCP_PUBLIC_MODEL"] ?? "";

const tasks = (await readTasks(checkout)).filter(
  ({ id }) => filters.length === 0 || filters.some((filter) => id.includes(filter)),
);
const binaries = process.env["REFMCP_PUBLIC_POSTGRES"] ?? "";
const run = new PublicRun({
  checkout,
  python: process.env["REFMCP_PUBLIC_PYTHON"] ?? "python3",
  solutions,
  ...(binaries !== "" && { binaries }),
  ...(name !== "" && { model: { api: new Anthropic(), name } }),
});
afterAll(() => run.stop());

for (const task of tasks)
  it(task.id, async ({ task: test, skip }) => {
    const { verdict, reason, calls, errors, tokens } = await run.task(task);
    test.meta.figures = { calls, errors, tokens };
    if (verdict === "skip") skip(reason);
    if (verdict === "fail") throw new Error(reason);
  });
