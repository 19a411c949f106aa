import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { changeAnswer, namedList } from "../files/change/answer.ts";
import { planDirectories } from "../files/change/plan.ts";
import { run } from "../files/change/run.ts";
import { named } from "../files/errors.ts";

export default tool({
  name: "create_directory",
  title: "Create directory",
  description:
    "Create a directory, or many, and any missing parents. Succeeds if it already exists.",
  effect: "add",
  toolset: "write",
  idempotent: true,
  input: z.strictObject({
    path: path.optional(),
    paths: z
      .array(z.string())
      .min(1)
      .max(1_000)
      .optional()
      .describe("Many at once, instead of path."),
  }),
  async run({ path, paths = path === undefined ? [] : [path] }, files, call) {
    if (paths.length === 0 || (path !== undefined && paths[0] !== path)) {
      throw new ToolError("invalid", "create_directory needs either path or paths.", {
        hint: "Give path for one directory, or paths for several.",
      });
    }
    const { subject, steps, created } = await planDirectories(files, paths);
    if (created.length === 0)
      return paths.length === 1
        ? `${named(subject.path)} already exists.`
        : "All of them already exist.";
    const { receipt } = await run(files, subject, steps, { signal: call.signal });
    return changeAnswer(`Created ${namedList(created)}.`, receipt);
  },
});
