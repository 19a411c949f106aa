import * as z from "zod";
import { approve } from "../browser/store/baselines.ts";
import { runId, tool } from "../context.ts";

export default tool({
  name: "pw_approve_baseline",
  title: "Accept a visual baseline",
  description:
    "Accept a run's screenshot as the visual baseline, after asking the user. Look at it first with pw_view_artifact.",
  effect: "destroy",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({
    run_id: runId,
    baseline: z
      .string()
      .describe("The baseline's name, as in: screenshot matches baseline 'home'."),
    device: z.string().default("desktop").describe("The device of the run."),
  }),
  async run({ run_id: id, baseline, device }, services, call) {
    const ask = (question: string) => call.confirm(question);
    const { path, replaced, from } = await approve(services, { runId: id, baseline, device }, ask);
    return `${path} is now the baseline, ${replaced ? "replaced by" : "taken from"} ${from}.`;
  },
});
