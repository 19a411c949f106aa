import { withLinks } from "@refmcp/core";
import * as z from "zod";
import { withUris } from "../browser/run/report.ts";
import { specText } from "../browser/specs/specs.ts";
import { artifacts, grep, linksOf, number, sentences, tool } from "../context.ts";

export default tool({
  name: "pw_run_specs",
  title: "Run the project's tests",
  description:
    "Run tests of the user's own Playwright project; returns what failed, with screenshots and traces.",
  effect: "change",
  openWorld: true,
  view: "report",
  input: z.strictObject({
    files: sentences.describe('Paths or parts of them, with a line: "login.spec.ts:12".'),
    grep,
    project: z
      .string()
      .optional()
      .describe("Only this project of the Playwright configuration: chromium."),
    last_failed: z
      .boolean()
      .default(false)
      .describe("Only the tests that failed in the previous run."),
  }),
  output: z.object({
    passed: z.boolean(),
    summary: z.string(),
    durationMs: number,
    failures: z.array(z.object({ test: z.string(), error: z.string() })),
    not_shown: number.optional(),
    not_run: number.optional(),
    notes: z.array(z.string()).optional(),
    run_id: z.string(),
    artifacts,
  }),
  async run({ last_failed: lastFailed, ...selection }, { specs, changed }, call) {
    const report = await specs.run({ ...selection, lastFailed }, call);
    changed();
    return withLinks(withUris(report), linksOf(report.artifacts), specText(report));
  },
});
