import * as z from "zod";
import { path, tool } from "../context.ts";
import { changeAnswer, namedList } from "../files/change/answer.ts";
import { planDirectory } from "../files/change/plan.ts";
import { run } from "../files/change/run.ts";
import { named } from "../files/errors.ts";

export default tool({
  name: "create_directory",
  title: "Create directory",
  description: "Create a directory and any missing parents. Succeeds if it already exists.",
  effect: "add",
  toolset: "write",
  idempotent: true,
  input: z.strictObject({ path }),
  async run({ path }, files, call) {
    const { subject, steps } = await planDirectory(files, path);
    if (steps.length === 0) return `${named(subject.path)} already exists.`;
    const { receipt } = await run(files, subject, steps, { signal: call.signal });
    return changeAnswer(`Created ${namedList(steps.map((step) => step.path))}.`, receipt);
  },
});
