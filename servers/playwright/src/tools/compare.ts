import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { comparisonText, fittingComparison } from "../browser/compare/answer.ts";
import { comparePages, comparison } from "../browser/compare/compare.ts";
import { withUris } from "../browser/verdict/report.ts";
import { artifacts, devices, linksOf, sentences, steps, tool } from "../context.ts";

export default tool({
  name: "pw_compare",
  title: "Compare two versions of pages",
  description:
    "Show what a change did to pages: ARIA tree, picture, errors, requests, a11y, times, weight. Keep a base before you edit, then compare; or compare two URLs. What varies between loads is ignored.",
  effect: "change",
  openWorld: true,
  view: "report",
  input: z.strictObject({
    before: z
      .string()
      .optional()
      .describe(
        'URL, run_id of an earlier comparison, or "base:main". Leave it out to only keep a base.',
      ),
    after: z.string().describe("URL of the changed version, or as before."),
    paths: sentences.describe(
      'Relative to both: "/about", "?page=2". Default: the URL, or all of the base.',
    ),
    steps: steps.describe("Performed on each page first, as in pw_run_test."),
    devices: devices.describe("As in pw_run_test."),
    keep: z.string().optional().describe('Keep the after side as a base for later calls: "main".'),
    timeout_ms: fields
      .timeoutMs(30_000, 600_000)
      .describe("Time limit of each load, in milliseconds."),
  }),
  output: comparison.extend({ artifacts }),
  async run({ timeout_ms: timeoutMs, ...request }, { drivers, runs }, call) {
    const found = await comparePages(drivers, runs, { ...request, timeoutMs }, call);
    const report = fittingComparison(found, call.budget);
    return withLinks(withUris(report), linksOf(report.artifacts), comparisonText(report));
  },
});
