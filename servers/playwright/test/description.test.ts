import { expect, it } from "vitest";
import { parseStep } from "../src/browser/language/parse.ts";
import { assertions, steps } from "../src/context.ts";
import { assertionOf } from "./forms.ts";

/** The sentences of a form, one for each of its alternatives. */
function sentencesOf(form: string): string[] {
  const [group, words = ""] = /\(([^()]*\|[^()]*)\)/.exec(form) ?? [];
  if (group !== undefined)
    return words.split("|").flatMap((word) => sentencesOf(form.replace(group, word)));
  const places = { TARGET: "h1", ASSERTION: "h1 exists", "e NAME": "e color" };
  return [
    Object.entries(places).reduce((text, [place, value]) => text.replace(place, value), form),
  ];
}

const [checks = "", targets = ""] = assertions.description?.split(/\. TARGET: |\. Last: /) ?? [];

it.each([
  ["steps", steps.description?.replace("In order: ", "") ?? "", parseStep],
  ["checks", checks, assertionOf],
  ["targets", targets, (target: string) => assertionOf(`${target} exists`)],
] as const)("the description has only %s that are sentences", (_, forms, read) => {
  const sentences = forms.split("; ").flatMap(sentencesOf);
  expect(sentences.length).toBeGreaterThan(5);
  for (const text of sentences) expect(() => read(text), text).not.toThrow();
});
