import * as z from "zod";
import { exportSpec } from "../browser/export/spec.ts";
import { assertions, runId, steps, tool, url } from "../context.ts";

export default tool({
  name: "pw_export_spec",
  title: "Export a spec",
  description:
    "Write a run, or steps and assertions as a Playwright spec (.spec.ts). Returns the code and runs nothing.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    title: z.string().default("the page works").describe("The test's title."),
    run_id: runId
      .optional()
      .describe("Export this run of pw_run_test, instead of url, steps and assertions."),
    url: url.optional(),
    steps: steps.describe("As in pw_run_test."),
    assertions: assertions.describe("As in pw_run_test."),
    device: z.string().optional().describe('"iPhone 15", "1024x768", "dark".'),
  }),
  async run({ run_id: id, device, title, ...script }, { drivers, runs }, call) {
    const test = id === undefined ? { ...script, devices: [] } : await runs.done(id);
    const name = device ?? test.devices[0];
    const [chosen] = name === undefined ? [] : await drivers.devices([name]);
    return exportSpec({ ...test, title, device: chosen }, call.budget);
  },
});
