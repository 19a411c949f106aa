import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { assertionOf } from "../../../test/forms.ts";
import { CHECKS } from "./checks.ts";
import { TABLES } from "./help.ts";
import { parseStep } from "./parse.ts";
import { STEPS } from "./steps.ts";

const examplesOf = (topics: (typeof TABLES)["checks"]) => topics.flatMap(([, texts]) => texts);
const ASSERTIONS = [
  ...examplesOf(TABLES.checks),
  ...examplesOf(TABLES.targets).map((target) => `${target} exists`),
];
const ACTIONS = examplesOf(TABLES.steps);

describe("the reference", () => {
  it("has an example of every form", () => {
    const checks = new Set<string>(ASSERTIONS.map((text) => assertionOf(text).check.kind));
    const actions = new Set<string>(ACTIONS.map((text) => parseStep(text).action.kind));
    expect(Object.keys(CHECKS).filter((kind) => !checks.has(kind))).toEqual([]);
    expect(Object.keys(STEPS).filter((kind) => !actions.has(kind))).toEqual([]);
  });

  it("is in README.md", () => {
    const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
    for (const topics of Object.values(TABLES))
      for (const example of examplesOf(topics))
        expect(readme).toContain(example.replaceAll("|", "\\|"));
  });
});
