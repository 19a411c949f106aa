import * as z from "zod";
import { exportSpec } from "../browser/export/spec.ts";
import { assertions, steps, tool, url } from "../context.ts";

export default tool({
  name: "pw_export_spec",
  title: "Export a spec",
  description:
    "Write steps and assertions as a Playwright spec (.spec.ts). Returns the code and runs nothing.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    title: z.string().default("the page works").describe("The test's title."),
    url,
    steps: steps.describe("As in pw_run_test."),
    assertions: assertions.describe("As in pw_run_test."),
    device: z.string().optional().describe('"iPhone 15", "1024x768", "dark".'),
  }),
  async run({ device, ...request }, { drivers }, call) {
    const [chosen] = device === undefined ? [] : await drivers.devices([device]);
    return exportSpec({ ...request, device: chosen }, call.budget);
  },
});
