import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { withUris } from "../browser/verdict/report.ts";
import { fittingSuite, runSuite, suiteReport, suiteText } from "../browser/verdict/suite.ts";
import { artifacts, devices, linksOf, sentences, tool } from "../context.ts";

const one = z.strictObject({
  name: z.string(),
  url: z.string(),
  steps: sentences,
  assertions: sentences,
});

export default tool({
  name: "pw_run_suite",
  title: "Run many tests",
  description:
    "Run many page tests in parallel, each as in pw_run_test; failed ones keep a screenshot.",
  effect: "change",
  openWorld: true,
  view: "report",
  input: z.strictObject({
    tests: z.array(one).min(1).max(500).describe("As in pw_run_test, each with a name."),
    devices: devices.describe("As in pw_run_test."),
    bail: z.boolean().default(false).describe("Stop after the first failed test."),
    timeout_ms: fields
      .timeoutMs(30_000, 600_000)
      .describe("Time limit of each test, in milliseconds."),
  }),
  output: suiteReport.extend({ artifacts }),
  async run({ timeout_ms: timeoutMs, ...request }, { drivers }, call) {
    const report = fittingSuite(
      await runSuite(drivers, { ...request, timeoutMs, evidence: ["on_failure"] }, call),
      call.budget,
    );
    return withLinks(withUris(report), linksOf(report.artifacts), suiteText(report));
  },
});
