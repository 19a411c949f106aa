import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { exportSpec } from "../browser/export/spec.ts";
import { assertions, runId, steps, tool, url } from "../context.ts";

export default tool({
  name: "pw_export_spec",
  title: "Export a spec",
  description:
    "Write a run, a browser session, or steps and assertions as a Playwright spec (.spec.ts). Returns the code and runs nothing.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    title: z.string().default("the page works").describe("The test's title."),
    run_id: runId
      .optional()
      .describe("Export this run of pw_run_test, instead of url, steps and assertions."),
    session: z
      .string()
      .optional()
      .describe("Export this session of pw_browse_open: the steps and checks that succeeded."),
    url: url.optional(),
    steps: steps.describe("As in pw_run_test."),
    assertions: assertions.describe("As in pw_run_test."),
    device: z.string().optional().describe('"iPhone 15", "1024x768", "dark".'),
  }),
  async run({ run_id: id, session, device, title, ...given }, { drivers, runs, sessions }, call) {
    if (id !== undefined && session !== undefined)
      throw new ToolError("invalid", "Both run_id and session were given.", {
        hint: "Pass one of them.",
      });
    const test =
      session !== undefined
        ? { assertions: [], ...(await sessions.script(session, call)) }
        : id === undefined
          ? given
          : await runs.done(id);
    const [used] = "devices" in test ? test.devices : "device" in test ? [test.device] : [];
    const name = device ?? used;
    const [chosen] = name === undefined ? [] : await drivers.devices([name]);
    return exportSpec({ ...test, title, device: chosen }, call.budget);
  },
});
