import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { fitted, withUris } from "../browser/run/report.ts";
import { runSuite, suiteReport, suiteText } from "../browser/run/suite.ts";
import { artifacts, devices, linksOf, sentences, tool } from "../context.ts";

const test = z.strictObject({
  name: z.string(),
  url: z.string(),
  steps: sentences.describe("click button 'Save'; fill field 'Email' with 'a@b.c'; press Enter"),
  assertions: sentences.describe("h1 contains 'Docs'; button 'Save' is visible; no console errors"),
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
    tests: z.array(test).min(1).max(500).describe("As in pw_run_test, each with a name."),
    devices: devices.describe("As in pw_run_test."),
    timeout_ms: fields
      .timeoutMs(30_000, 600_000)
      .describe("Time limit of each test, in milliseconds."),
  }),
  output: suiteReport.extend({ artifacts }),
  async run({ timeout_ms: timeoutMs, ...request }, { drivers }, call) {
    const suite = { ...request, timeoutMs, evidence: ["on_failure" as const] };
    const report = fitted(await runSuite(drivers, suite, call), suiteText, call.budget);
    return withLinks(withUris(report), linksOf(report.artifacts), suiteText(report));
  },
});
