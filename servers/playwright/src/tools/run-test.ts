import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { fitted, textOf, withUris } from "../browser/run/report.ts";
import {
  artifacts,
  assertions,
  check,
  devices,
  evidence,
  linksOf,
  number,
  steps,
  tool,
  url,
} from "../context.ts";

export default tool({
  name: "pw_run_test",
  title: "Test a page",
  description:
    "Test a web page in a real browser: perform steps, check assertions, return a verdict and a screenshot. On an unknown page, call pw_inspect_page first.",
  effect: "change",
  openWorld: true,
  view: "report",
  input: z.strictObject({
    url,
    assertions,
    steps,
    devices,
    evidence,
    timeout_ms: fields.timeoutMs(30_000, 600_000),
  }),
  output: z.object({
    url: z.string(),
    assertions: z.array(check),
    durationMs: number,
    passed: z.boolean(),
    run_id: z.string().optional(),
    final_url: z.string().optional(),
    status: number.optional(),
    title: z.string().optional(),
    failed_step: z.string().optional(),
    artifacts: artifacts.optional(),
    notes: z.array(z.string()).optional(),
    error: z.string().optional(),
  }),
  async run({ timeout_ms: timeoutMs, ...request }, { drivers }, call) {
    const whole = await drivers.run({ ...request, timeoutMs }, call);
    const report = fitted(whole, textOf, call.budget);
    return withLinks(withUris(report), linksOf(report.artifacts), textOf(report));
  },
});
