import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import { EVIDENCE } from "./browser/run/evidence.ts";
import type { ShownArtifact } from "./browser/run/report.ts";
import type { Services } from "./browser/services.ts";

export const tool = toolFor<Services>();
export const resource = resourceFor<Services>();
export const prompt = promptFor<Services>();

/** A count, a size or milliseconds in an output. */
export const number = z.number();

const sentences = z.array(z.string()).default([]);

export const url = z.string().describe("http or https URL: http://localhost:3000/docs");
export const steps = sentences.describe(
  "In order: \"click button 'Save'\", \"fill label 'Email' with 'a@b.c'\", \"fill 'Password' with secret 'NAME'\", \"goto /x\".",
);
export const assertions = sentences.describe(
  '"h1 contains \'Docs\'", "button \'Save\' is visible", "li count is 3", "status is 200", "no console errors", "no a11y violations", "lcp under 2s". All: pw://help/assertions',
);
export const devices = sentences.describe('Run on each: "desktop", "iPhone 15", "1024x768", "dark".');
export const evidence = z
  .array(z.enum(EVIDENCE))
  .default(["screenshot"])
  .describe("What to keep; on_failure: a screenshot only then.");
export const runId = z.string().describe("run_id of an earlier answer.");

export const check = z.object({
  name: z.string(),
  passed: z.boolean(),
  actual: z.string().optional(),
  device: z.string().optional(),
});

/** URIs of what a run kept. */
export const artifacts = z.array(z.string());

/** Links to artifacts, pictures first. */
export function linksOf(artifacts: readonly ShownArtifact[] = []) {
  const isPicture = (one: ShownArtifact) => one.mime_type === "image/png";
  const sorted = [...artifacts.filter(isPicture), ...artifacts.filter((one) => !isPicture(one))];
  return sorted.map(({ uri, name, mime_type }) => ({ uri, name, mimeType: mime_type }));
}
