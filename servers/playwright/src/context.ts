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
/** Of `(a|b)`, a sentence has one; a test reads each of these sentences. */
const STEP_FORMS = `(click|double click|right click|hover|scroll to) button 'Save'; fill field 'Email' with 'x';
fill 'Password' with secret 'NAME'; type 'x' into 'City'; press Enter; (check|uncheck|clear) 'Terms';
select 'Red' in 'Color'; upload 'a.txt' to 'CV'; goto /x; go back; reload; (accept|dismiss) dialog; wait for 'Done'; wait 2s;
expect ASSERTION; mock /api/x with 500; page.getByText('Go').click()`;
const CHECK_FORMS = `(title|url|TARGET) (is|contains|starts with|ends with) 'x'; TARGET matches /x/;
TARGET (is|is not) (visible|enabled|disabled|checked|empty|focused|selected|expanded|in viewport);
TARGET has (value|href|class|attribute NAME|style NAME) 'x'; TARGET exists; no TARGET; table has 5 rows;
(exactly|at least|at most) 2 TARGET; status is 200; (request|no requests) to POST **/api/*; download 'a.csv';
no (console errors|failed requests|broken images|horizontal overflow|a11y violations); (lcp|load time) under 2s;
cls under 0.1; expect(page.getByText('Hi')).toBeVisible()`;
const TARGET_FORMS = `button 'Save'; field 'Email'; 'text'; .css; \`.css a\`; (first|last|nth 2) li;
li containing 'x'; link 'A' in dialog`;
const inline = (forms: string) => forms.replaceAll("\n", " ");

export const steps = sentences.describe(`In order: ${inline(STEP_FORMS)}`);
export const assertions = sentences.describe(
  `${inline(CHECK_FORMS)}. TARGET: ${inline(TARGET_FORMS)}. Last: within 9s. All: pw://help/assertions`,
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
  const isPicture = (item: ShownArtifact) => item.mime_type === "image/png";
  const sorted = [...artifacts.filter(isPicture), ...artifacts.filter((item) => !isPicture(item))];
  return sorted.map(({ uri, name, mime_type }) => ({ uri, name, mimeType: mime_type }));
}
