import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHECKS } from "./checks.ts";
import { TABLES } from "./help.ts";
import { parseAssertion, parseStep } from "./parse.ts";
import { assertionSentence, parseScript, stepSentence } from "./script.ts";
import { STEPS } from "./steps.ts";

const examplesOf = (topics: (typeof TABLES)["checks"]) => topics.flatMap(([, texts]) => texts);
const ASSERTIONS = [
  ...examplesOf(TABLES.checks),
  ...examplesOf(TABLES.targets).map((target) => `${target} exists`),
];
const ACTIONS = examplesOf(TABLES.steps);

/** A sentence in the language's own words. */
function canonicalOf(text: string, list: "assertions" | "steps"): string {
  const { steps, assertions } =
    list === "steps" ? parseScript([text], []) : parseScript([], [text]);
  return [
    ...steps.map((step) => stepSentence(step)),
    ...assertions.map((assertion) => assertionSentence(assertion)),
  ].join();
}

describe("the reference", () => {
  it("has an example of every form", () => {
    const checks = new Set<string>(ASSERTIONS.map((text) => parseAssertion(text).check.kind));
    const actions = new Set<string>(ACTIONS.map((text) => parseStep(text).action.kind));
    expect(Object.keys(CHECKS).filter((kind) => !checks.has(kind))).toEqual([]);
    expect(Object.keys(STEPS).filter((kind) => !actions.has(kind))).toEqual([]);
  });

  it.each([
    ...ASSERTIONS.map((text) => ["assertions", text] as const),
    ...ACTIONS.map((text) => ["steps", text] as const),
  ])("%s: %s means the same in its canonical wording", (list, text) => {
    const canonical = canonicalOf(text, list);
    expect(canonicalOf(canonical, list)).toBe(canonical);
  });

  it("is in README.md", () => {
    const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
    for (const topics of Object.values(TABLES))
      for (const example of examplesOf(topics))
        expect(readme).toContain(example.replaceAll("|", "\\|"));
  });
});
