import { ToolError } from "@refmcp/boundary/answer";
import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { healingText, healRun } from "../browser/heal/heal.ts";
import { healSpec } from "../browser/specs/heal-spec.ts";
import { number, runId, tool } from "../context.ts";

const changes = z.array(
  z.object({ where: z.string(), before: z.string(), after: z.string(), why: z.string() }),
);

export default tool({
  name: "pw_heal",
  title: "Heal a failed test",
  description:
    "Find the elements that a failed test misses, and return corrected sentences or a patch. Proved by a passing run, and by failing runs without each element. Only targets change, never what is checked.",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    run_id: runId.optional().describe("A failed run of pw_run_test."),
    file: z.string().optional().describe('Or a failing test of the project: "login.spec.ts:12".'),
    apply: z.boolean().default(false).describe("Write the patch to the project's files."),
    timeout_ms: fields.timeoutMs(30_000, 600_000).describe("Time limit of each run of run_id."),
  }),
  output: z.object({
    outcome: z.enum(["healed", "question", "defect", "passes", "undecided"]),
    summary: z.string(),
    changes,
    questions: changes,
    patch: z.string().optional(),
    applied: z.boolean().optional(),
    green_run: z.string().optional(),
    red_runs: z.array(z.string()),
    runs: number,
    notes: z.array(z.string()),
  }),
  async run({ run_id: id, file, apply, timeout_ms: timeoutMs }, services, call) {
    if ((id === undefined) === (file === undefined))
      throw new ToolError("invalid", "Pass either run_id or file.", {
        hint: "run_id is in the answer of pw_run_test; pw_list_specs lists the project's files.",
      });
    const healing =
      id === undefined
        ? await healSpec(services, { file: file ?? "", apply }, call)
        : await healRun(services, { runId: id, timeoutMs }, call);
    services.changed();
    return withLinks(healing, [], healingText(healing));
  },
});
