import { ToolError } from "@refmcp/boundary/answer";
import { describe, expect, it } from "vitest";
import { parseScript } from "./script.ts";

type Mistake = readonly [marked: string, expected: string];

/** Sentences with a mistake at ‸, and what is expected there. */
const CHECKS: readonly Mistake[] = [
  ["‸", "an assertion"],
  ["title ‸contians 'x'", "(did you mean contains?)"],
  ["url ‸'x'", "contains, is or matches"],
  ["status is ‸2000", "a status such as 200 or 2xx"],
  ["status ‸9xx", "a status such as 200 or 2xx"],
  ["h1 ‸contans 'Docs'", "did you mean contains?"],
  ["h1 contains ‸", "a text in quotes"],
  ["h1 contains ‸'Docs", "a closing '"],
  ["h1 matches ‸Docs", "a pattern between slashes"],
  ["h1 matches ‸/(a/", "RE2"],
  ["h1 matches ‸/(?=a)/", "no look-around"],
  ["h1 matches ‸/a/g", "only the flags i, m, s and u"],
  ["h1 is ‸visibel", "did you mean visible?"],
  ["h1 ‸exits", "did you mean exists?"],
  ["h1 ‸does not exits", "exist"],
  ["h1 has ‸color 'red'", "value, selected, class, id, attribute or style"],
  ["h1 has value ‸", "a text in quotes, contains or matches"],
  ["h1 has attribute ‸'a b' 'x'", "a name"],
  ["h1 has style ‸", "a name"],
  ["li count is ‸many", "a whole number"],
  ["li count at least ‸1.5", "a whole number"],
  ["nth ‸0 li exists", "a position from 1"],
  ["‸buton 'Save' is visible", "did you mean button?"],
  ["‸sectoin contains 'x'", "did you mean section?"],
  ["‸a[href exists", "balanced brackets"],
  ["‸`` exists", "a CSS selector between"],
  ["‸'.spinner' is hidden", ".spinner without quotes for CSS, or text '.spinner'"],
  ["label ‸'' exists", "a text that is not empty"],
  ["h1 in ‸is visible", "a target"],
  ["no ‸console erors", "did you mean console errors?"],
  ["no ‸", "a target"],
  ["no requests to ‸", "a URL pattern"],
  ["no a11y violations in ‸", "a target"],
  ["request to ‸", "a URL pattern"],
  ["response **/x ‸is 200", "status, contains or has"],
  ["response **/x status is ‸ok", "a status such as 200"],
  ["console contains ‸", "a text in quotes"],
  ["download ‸", "a text in quotes"],
  ["dialog message ‸'x'", "contains, is or matches"],
  ["heading level ‸7 exists", "a level from 1 to 6"],
  ["li containing ‸'' exists", "a text that is not empty"],
  ["h1 matches aria snapshot ‸heading", "a text in quotes"],
  ["response time ‸500ms", "under"],
  ["lcp under ‸2", "a time such as 500ms or 2s"],
  ["response /api has header ‸'Cookie'", "a header's name"],
  ["cls under ‸low", "a number such as 0.1"],
  ["page weight under ‸2", "a size such as"],
  ["h1 exists within ‸soon", "a time such as"],
  ["h1 exists ‸and more", "the end, or within and a time"],
];

/** Steps with a mistake at ‸, and what is expected there. */
const STEPS: readonly Mistake[] = [
  ["‸", "a step"],
  ["‸clik 'x'", "did you mean click?"],
  ["click ‸", "a target"],
  ["click button 'a' ‸twice", "the end of the step"],
  ["double click ‸", "a target"],
  ["right click ‸", "a target"],
  ["goto ‸", "a URL, or a path"],
  ["goto ‸file:///etc/passwd", "file: is not allowed"],
  ["goto ‸javascript:alert(1)", "javascript: is not allowed"],
  ["fill 'x' ‸and", "with and a text in quotes"],
  ["fill 'x' with ‸", "a text in quotes, or secret and its name"],
  ["fill 'x' with secret ‸'a-b'", "letters, digits and _"],
  ["type ‸", "a text in quotes, or secret and its name"],
  ["press ‸Retrun", "a key such as Enter"],
  ["press Enter on ‸", "a target"],
  ["check ‸", "a target"],
  ["uncheck ‸", "a target"],
  ["select ‸", "a text in quotes"],
  ["select 'a' and ‸", "a text in quotes"],
  ["upload ‸", "a text in quotes"],
  ["upload 'notes.txt' ‸input", "to and a field"],
  ["hover ‸", "a target"],
  ["focus ‸", "a target"],
  ["clear ‸", "a target"],
  ["wait for ‸", "a time, a target, or an assertion"],
  ["wait for ‸5 hours", "a time such as 500ms or 2s"],
  ["wait for h1 ‸contans 'x'", "did you mean contains?"],
  ["scroll to ‸", "a target"],
  ["drag 'a' ‸'b'", "to and a target"],
  ["accept dialog with ‸", "a text in quotes"],
  ["dismiss dialog ‸twice", "the end of the step"],
  ["go back ‸twice", "the end of the step"],
  ["go forward ‸twice", "the end of the step"],
  ["reload ‸twice", "the end of the step"],
  ["viewport ‸1x1", "a size from 50x50 to 4000x4000"],
  ["screenshot of ‸", "a target"],
  ["switch to tab ‸help", "the tab's number"],
  ["close tab ‸2", "the end of the step"],
  ["type 'x' into ‸", "a target"],
  ["mock ‸", "a URL pattern"],
  ["mock GET /x ‸500", "with and a status"],
  ["mock /x with ‸teapot", "a status from 200 to 599"],
  ["block ‸", "a URL pattern"],
  ["delay /x by ‸soon", "a time such as"],
  ["use har ‸shop", "a text in quotes"],
  ["geolocation ‸91, 0", "a latitude and a longitude"],
  ["grant permission ‸'root'", "notifications"],
  ["time zone ‸'Mars/Base'", "a time zone such as"],
  ["locale ‸'_'", "a language tag"],
  ["clock at ‸'noon'", "a date and time"],
  ["fast forward ‸soon", "a time such as"],
  ["throttle cpu ‸99x", "a factor from 1x to 20x"],
  ["throttle network to ‸5g", "slow 3g, fast 3g, fast 4g"],
  ["set header ‸'Host' to 'x'", "a header's name"],
  ["click #card at ‸left", "a position in pixels"],
  ["expect ‸", "an assertion"],
  ["expect h1 ‸contans 'x'", "did you mean contains?"],
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
