import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { EVIDENCE } from "./browser/page/artifacts.ts";
import type { ShownArtifact } from "./browser/run/report.ts";
import type { Services } from "./browser/services.ts";

export const tool = toolFor<Services>();
export const resource = resourceFor<Services>();
export const prompt = promptFor<Services>();

export const number = z.number();

/** A list of sentences or names. */
export const sentences = z.array(z.string()).max(500).default([]);
export const grep = z
  .string()
  .optional()
  .describe("Only tests whose titles match this regular expression.");

export const url = z.string().describe("http or https URL: http://localhost:3000/docs");
export const steps = sentences.describe(
  "In order: \"click button 'Save'\", \"fill label 'Email' with 'a@b.c'\", \"fill 'Password' with secret 'NAME'\", \"goto /x\", or lines of Playwright: \"page.getByText('Save').click()\".",
);
export const assertions = sentences.describe(
  '"h1 contains \'Docs\'", "button \'Save\' is visible", "li count is 3", "status is 200", "no console errors", "no a11y violations", "lcp under 2s", "expect(page.getByText(\'Hi\')).toBeVisible()". All: pw://help/assertions',
);
export const devices = sentences.describe(
  'Run on each: "desktop", "iPhone 15", "1024x768", "dark".',
);
export const evidence = z
  .array(z.enum(EVIDENCE))
  .max(EVIDENCE.length)
  .default(["screenshot"])
  .describe("on_failure: a screenshot if it fails.");
export const runId = z.string().describe("run_id from an earlier answer.");

export const check = z.object({
  name: z.string(),
  passed: z.boolean(),
  actual: z.string().optional(),
  device: z.string().optional(),
});

export const session = z.string().default("main").describe("The session's name.");
const TARGETS = 60;
export const limit = fields.limit(TARGETS, 500);
/** The share of an answer's budget for a snapshot. */
export const lookOf = ({ budget }: { readonly budget: number }, max = TARGETS) => ({
  limit: max,
  budget: budget * 0.7,
});

export const seen = {
  snapshot: z.string(),
  targets: z.array(z.string()),
  not_shown: number.optional(),
  lines_left_out: number.optional(),
};

export const artifacts = z.array(z.string());

export const visited = {
  url: z.string(),
  status: number.optional(),
  title: z.string(),
  console: z.array(z.string()),
  failed_step: z.string().optional(),
  notes: z.array(z.string()).optional(),
  run_id: z.string(),
  artifacts,
};

export const browsed = z
  .object({ ...visited, ...seen, assertions: z.array(check).optional() })
  .partial({ snapshot: true, targets: true });

/** Links to artifacts, pictures first. */
export function linksOf(artifacts: readonly ShownArtifact[] = []) {
  const isPicture = (one: ShownArtifact) => one.mime_type === "image/png";
  const sorted = [...artifacts.filter(isPicture), ...artifacts.filter((one) => !isPicture(one))];
  return sorted.map(({ uri, name, mime_type }) => ({ uri, name, mimeType: mime_type }));
}
