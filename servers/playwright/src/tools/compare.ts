import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { comparison, comparisonText } from "../browser/compare/compare.ts";
import { fitted, withUris } from "../browser/run/report.ts";
import { artifacts, devices, linksOf, sentences, steps, tool, url } from "../context.ts";

export default tool({
  name: "pw_compare",
  title: "Compare pages with a base",
  description:
    "Show what a change did to pages: ARIA tree, picture, errors, requests, a11y. Keep a base before you edit (keep: true), then compare with it. What varies between loads is ignored.",
  effect: "change",
  openWorld: true,
  view: "report",
  input: z.strictObject({
    url,
    base: z.string().default("main").describe("The base's name."),
    keep: z.boolean().default(false).describe("Keep the pages as the base instead of comparing."),
    paths: sentences.describe(
      'Relative to the URL: "/about", "?page=2". Default: the URL, or all of the base.',
    ),
    steps: steps.describe("Performed on each page first, as in pw_run_test."),
    devices: devices.describe("As in pw_run_test."),
    timeout_ms: fields
      .timeoutMs(30_000, 600_000)
      .describe("Time limit of each load, in milliseconds."),
  }),
  output: comparison.extend({ artifacts }),
  async run({ timeout_ms: timeoutMs, ...request }, { drivers }, call) {
    const comparison = await drivers.compare({ ...request, timeoutMs }, call);
    const report = fitted(comparison, comparisonText, call.budget);
    return withLinks(withUris(report), linksOf(report.artifacts), comparisonText(report));
  },
});
