import { ToolError } from "@refmcp/boundary/answer";
import { describe, expect, it } from "vitest";
import { parseScript } from "./parse.ts";

type Mistake = readonly [marked: string, expected: string];

/** Sentences with a mistake at ‸, and what is expected there. */
const CHECKS: readonly Mistake[] = [
  ["‸", "an assertion"],
  ["title ‸contians 'x'", "contains, is, matches"],
  ["url ‸'x'", "contains, is or matches"],
  ["status is ‸2000", "a status such as 200 or 2xx"],
  ["status ‸9xx", "a status such as 200 or 2xx"],
  ["h1 ‸contans 'Docs'", "contains"],
  ["h1 contains ‸", "a text in quotes"],
  ["h1 contains ‸'Docs", "a closing '"],
  ["h1 matches ‸Docs", "a pattern between slashes"],
  ["h1 matches ‸/(a/", "RE2"],
  ["h1 matches ‸/(?=a)/", "no look-around"],
  ["h1 matches ‸/a/g", "only the flags i, m, s and u"],
  ["h1 is ‸visibel", "visible"],
  ["h1 ‸exits", "exists"],
  ["h1 ‸does not exits", "exist"],
  ["h1 has ‸color 'red'", "value, class, attribute"],
  ["h1 has value ‸", "a text in quotes, contains or matches"],
  ["h1 has attribute ‸'a b' 'x'", "a name"],
  ["h1 has style ‸", "a name"],
  ["li count is ‸many", "a whole number"],
  ["li count at least ‸1.5", "a whole number"],
  ["nth ‸0 li exists", "a position from 1"],
  ["‸buton 'Save' is visible", "an assertion"],
  ["‸sectoin contains 'x'", "an assertion"],
  ["‸a[href exists", "balanced brackets"],
  ["‸`` exists", "a CSS selector between"],
  ["‸'.spinner' is hidden", ".spinner without quotes for CSS, or text '.spinner'"],
  ["label ‸'' exists", "a text that is not empty"],
  ["h1 in ‸is visible", "a target"],
  ["no ‸console erors", "console errors"],
  ["no ‸", "a target"],
  ["no requests to ‸", "a URL pattern"],
  ["no a11y violations in ‸", "a target"],
  ["request to ‸", "a URL pattern"],
  ["response **/x ‸is 200", "status"],
  ["response **/x status is ‸ok", "a status such as 200"],
  ["download ‸", "a text in quotes"],
  ["heading level ‸7 exists", "a level from 1 to 6"],
  ["li containing ‸'' exists", "a text that is not empty"],
  ["response time ‸500ms", "under"],
  ["lcp under ‸2", "a time such as 500ms or 2s"],
  ["cls under ‸low", "a number such as 0.1"],
  ["h1 exists within ‸soon", "a time such as"],
  ["h1 exists ‸and more", "the end, or within and a time"],
];

/** Steps with a mistake at ‸, and what is expected there. */
const STEPS: readonly Mistake[] = [
  ["‸", "a step"],
  ["‸clik 'x'", "click"],
  ["click ‸", "a target"],
  ["click button 'a' ‸twice", "the end of the step"],
  ["double click ‸", "a target"],
  ["goto ‸", "a URL, or a path"],
  ["goto ‸file:///etc/passwd", "file: is not allowed"],
  ["goto ‸javascript:alert(1)", "javascript: is not allowed"],
  ["fill 'x' ‸and", "with"],
  ["fill 'x' with ‸", "a text in quotes, or secret and its name"],
  ["fill 'x' with secret ‸'a-b'", "letters, digits and _"],
  ["type ‸", "a text in quotes, or secret and its name"],
  ["press Enter on ‸", "a target"],
  ["check ‸", "a target"],
  ["uncheck ‸", "a target"],
  ["select ‸", "a text in quotes"],
  ["select 'a' and ‸", "a text in quotes"],
  ["upload ‸", "a text in quotes"],
  ["upload 'notes.txt' ‸input", "to"],
  ["hover ‸", "a target"],
  ["clear ‸", "a target"],
  ["wait for ‸", "a time, a target, or an assertion"],
  ["wait for ‸5 hours", "a time such as 500ms or 2s"],
  ["wait for h1 ‸contans 'x'", "contains"],
  ["scroll to ‸", "a target"],
  ["drag 'a' ‸'b'", "to"],
  ["accept dialog with ‸", "a text in quotes"],
  ["go back ‸twice", "the end of the step"],
  ["reload ‸twice", "the end of the step"],
  ["screenshot of ‸", "a target"],
  ["switch to tab ‸help", "the tab's number"],
  ["type 'x' into ‸", "a target"],
  ["mock ‸", "a URL pattern"],
  ["mock GET /x ‸500", "with"],
  ["mock /x with ‸teapot", "a status from 200 to 599"],
  ["block ‸", "a URL pattern"],
  ["use har ‸shop", "a text in quotes"],
  ["expect ‸", "an assertion"],
  ["expect h1 ‸contans 'x'", "contains"],
];

describe("a mistake in a sentence", () => {
  it.each([
    ...CHECKS.map((mistake) => ["assertions", ...mistake] as const),
    ...STEPS.map((mistake) => ["steps", ...mistake] as const),
  ])("%s: %s", (list, marked, expected) => {
    const text = marked.replace("‸", "");
    const error = problem(list === "steps" ? [text] : [], list === "steps" ? [] : [text]);
    const [title, sentence, caret = "", example] = error.message.split("\n");
    expect(title).toBe(`${list}[0] cannot be parsed:`);
    expect(sentence).toBe(`  ${text}`);
    expect(caret.indexOf("^") - 2).toBe(marked.indexOf("‸"));
    expect(caret).toContain(expected);
    expect(example).toMatch(/^ {2}for example: \S/);
    expect(error).toMatchObject({ kind: "invalid", code: "grammar" });
    expect(error.hint).toContain("pw://help/assertions");
  });
});

function problem(steps: readonly string[], assertions: readonly string[]): ToolError {
  try {
    parseScript(steps, assertions);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error("it can be parsed");
}
