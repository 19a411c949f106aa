import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { healingText, healRun } from "../browser/heal/heal.ts";
import { number, runId, tool } from "../context.ts";

const change = z.object({ where: z.string(), before: z.string(), after: z.string(), why: z.string() });

export default tool({
  name: "pw_heal",
  title: "Heal a failed test",
  description:
    "Find the elements that a failed run of pw_run_test no longer finds, and return corrected sentences. Each is proved by a run that passes and one that fails without the element. Only targets change, never what is checked.",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    run_id: runId,
    timeout_ms: fields.timeoutMs(30_000, 600_000).describe("Time limit of each run, in milliseconds."),
  }),
  output: z.object({
    outcome: z.enum(["healed", "question", "defect", "passes", "undecided"]),
    summary: z.string(),
    changes: z.array(change),
    questions: z.array(change),
    green_run: z.string().optional(),
    red_runs: z.array(z.string()),
    runs: number,
    notes: z.array(z.string()),
  }),
  async run({ run_id: id, timeout_ms: timeoutMs }, services, call) {
    const healing = await healRun(services, { runId: id, timeoutMs }, call);
    return withLinks(healing, [], healingText(healing));
  },
});
