import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { CATEGORIES } from "../browser/audit/rules.ts";
import { withUris } from "../browser/verdict/report.ts";
import { artifacts, devices, linksOf, number, steps, tool, url } from "../context.ts";

const scores = z.record(z.string(), number);
const finding = z.object({
  category: z.string(),
  rule: z.string(),
  costs: number.describe("Points of the category's score."),
  fix: z.string(),
  reason: z.string().optional(),
  where: z.array(z.string()).optional(),
  count: number,
  devices: z.array(z.string()).optional(),
});

export default tool({
  name: "pw_audit",
  title: "Audit a page",
  description:
    "Audit a web page: scores from 0 to 100 per category, with the failing elements and what to change. For checks that pass or fail use pw_run_test.",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    url,
    steps: steps.describe(
      "As in pw_run_test: the page is audited after them, and inp measures them.",
    ),
    devices: devices.describe("As in pw_run_test."),
    categories: z
      .array(z.enum(CATEGORIES))
      .max(CATEGORIES.length)
      .default([])
      .describe("Default: all; lighthouse only where the npm package is installed."),
    timeout_ms: fields.timeoutMs(60_000, 600_000),
  }),
  output: z.object({
    url: z.string(),
    status: number.optional(),
    title: z.string(),
    devices: z.array(
      z.object({
        device: z.string(),
        scores,
        vitals: scores.optional(),
        weight: z.object({ bytes: number, requests: number, by_kind: scores }).optional(),
        lighthouse: scores.optional(),
      }),
    ),
    findings: z.array(finding),
    more_findings: number.optional(),
    failed_step: z.string().optional(),
    notes: z.array(z.string()).optional(),
    run_id: z.string(),
    artifacts,
  }),
  async run({ timeout_ms: timeoutMs, ...request }, { drivers }, call) {
    const audit = await drivers.audit({ ...request, timeoutMs, budget: call.budget }, call);
    return withLinks(withUris(audit), linksOf(audit.artifacts));
  },
});
