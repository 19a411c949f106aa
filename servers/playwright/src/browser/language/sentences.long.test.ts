import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { exportSpec } from "../export/spec.ts";
import { assertionSentence, parseScript, stepSentence } from "./script.ts";

// Sentences as people write them: what each means in the language's own words, or the call that it must print. `wild` is
// from public feature files, test plans, titles and comments of tests.
type Row = readonly [kind: string, text: string, wanted: string];
const { canonical, refused, wild }: Record<"canonical" | "refused" | "wild", Row[]> = JSON.parse(
  readFileSync(new URL("../../../test/sentences.json", import.meta.url), "utf8"),
);

const listsOf = (kind: string, text: string) =>
  kind === "step" ? { steps: [text], assertions: [] } : { steps: [], assertions: [text] };

function canonicalOf(kind: string, text: string): string {
  const lists = listsOf(kind, text);
  const { steps, assertions } = parseScript(lists.steps, lists.assertions);
  return [
    ...steps.map((one) => stepSentence(one)),
    ...assertions.map((one) => assertionSentence(one)),
  ].join();
}

/** The first line of a spec for a sentence; the others check it again once the page has settled. */
function codeOf(kind: string, text: string): string | undefined {
  const url = "http://localhost/";
  const spec = exportSpec({ title: "t", url, device: undefined, ...listsOf(kind, text) });
  const opened = `await page.goto("/");`;
  return spec
    .slice(spec.indexOf(opened) + opened.length)
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "" && !line.startsWith("await settled"));
}

describe("a sentence in people's words", () => {
  it("means what its canonical wording means", () => {
    const wrong = canonical.flatMap(([kind, text, wanted]) => {
      const read = canonicalOf(kind, text);
      return read === wanted && canonicalOf(kind, wanted) === wanted ? [] : [[text, read, wanted]];
    });
    expect(wrong).toEqual([]);
    expect(canonical.length).toBeGreaterThan(140);
  });

  it("is the call of Playwright that a person understands", () => {
    const wrong = wild.flatMap(([kind, text, wanted]) => {
      const code = codeOf(kind, text);
      return code === wanted ? [] : [[text, code, wanted]];
    });
    expect(wrong).toEqual([]);
    expect(wild.length).toBeGreaterThan(350);
  });

  it.each(refused)("%s: %s is refused", (kind, text) => {
    expect(() => canonicalOf(kind, text)).toThrow("cannot be parsed");
  });

  it.each([
    ["wait for navigation", "wait for load"],
    ["wait for navigation is visible", "wait for navigation is visible"],
    ["close the popup", "cannot be parsed"],
    ["expect no error message", "cannot be parsed"],
    ["the Save button and the Cancel button are visible", "cannot be parsed"],
    ["set 'A' to 'B' in 'C'", "cannot be parsed"],
  ])("%s is not silently something else", (text, wanted) => {
    const read = () => canonicalOf("step", text);
    if (wanted.startsWith("cannot")) expect(read).toThrow(wanted);
    else expect(read()).toBe(wanted);
  });

  it("with two meanings is refused, and shows both in the language's own words", () => {
    expect(() => canonicalOf("step", "enter 'A' as 'B'")).toThrow(
      `expected one meaning; this can be "fill 'A' with 'B'" or "fill 'B' with 'A'": write the one that you mean`,
    );
  });
});
