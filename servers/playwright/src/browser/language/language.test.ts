import { describe, expect, it } from "vitest";
import { assertionOf } from "../../../test/forms.ts";
import { parseScript, parseStep } from "./parse.ts";
import { describeTarget } from "./target.ts";

const check = (text: string) => assertionOf(text).check;
const problem = (steps: string[], assertions: string[]): string => {
  try {
    parseScript(steps, assertions);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  throw new Error("it can be parsed");
};

describe("assertions", () => {
  it.each([
    ["title is 'Docs'", { kind: "page", what: "title", compare: { how: "is", value: "Docs" } }],
    ["title is not 'Docs'", { kind: "page", compare: { how: "is", negated: true } }],
    [
      "url does not contain '?q'",
      { kind: "page", what: "url", compare: { how: "contains", negated: true } },
    ],
    [
      "title matches /^a\\/b$/i",
      { kind: "page", compare: { how: "matches", value: "^a\\/b$", flags: "i" } },
    ],
    ["status is 200", { kind: "status", range: { from: 200, to: 200 } }],
    ["status 2xx", { kind: "status", range: { from: 200, to: 299 } }],
    [
      "status 'Saved' is visible",
      { kind: "state", target: { base: { kind: "role", role: "status" } } },
    ],
    ["h1 contains 'Docs'", { kind: "text", target: { base: { kind: "css", css: "h1" } } }],
    ["Expect h1 contains “Docs”", { kind: "text", compare: { value: "Docs" } }],
    ["h1 does not contain 'x'", { kind: "text", compare: { negated: true } }],
    ["`main > .item, .other` is visible", { target: { base: { css: "main > .item, .other" } } }],
    [
      "a[href='is visible'] exists",
      { kind: "existence", target: { base: { css: "a[href='is visible']" } } },
    ],
    [
      "`.in is` is not visible",
      { kind: "state", target: { base: { css: ".in is" } }, negated: true },
    ],
    [
      "button 'Save' is disabled",
      { target: { base: { kind: "role", role: "button", name: "Save" } } },
    ],
    ["link 'x' does not exist", { kind: "existence", exists: false }],
    ["link exists", { target: { base: { kind: "role", role: "link", name: undefined } } }],
    ["heading is in viewport", { kind: "state", state: "in viewport" }],
    ["'Welcome' is visible", { target: { base: { kind: "quoted", text: "Welcome" } } }],
    ["label 'It\\'s' is checked", { target: { base: { kind: "label", text: "It's" } } }],
    ["label contains 'x'", { target: { base: { kind: "css", css: "label" } } }],
    [
      "nth 3 li in ul in main is 'c'",
      { target: { pick: 3, inside: { inside: { base: { role: "main" } } } } },
    ],
    ["first testid 'row' exists", { target: { pick: "first", base: { kind: "testid" } } }],
    ["input has value 'x'", { kind: "value", compare: { how: "is" } }],
    ["a has attribute href", { kind: "attribute", name: "href" }],
    ["a has attribute 'href' contains '/x'", { name: "href", compare: { how: "contains" } }],
    ["h1 has style 'color' 'red'", { kind: "style", name: "color" }],
    ["li count is 3", { kind: "count", compare: { how: "=", value: 3 } }],
    ["li count >= 3", { compare: { how: ">=" } }],
    ["no console errors", { kind: "absence", what: "console errors" }],
    ["no .error", { kind: "no target" }],
    ["no text '.error'", { kind: "no target", target: { base: { kind: "text", text: ".error" } } }],
    ["no .error in main", { kind: "no target", target: { inside: { base: { role: "main" } } } }],
    ["no requests to **/ads/**", { kind: "no requests", request: { glob: "**/ads/**" } }],
    ["no serious a11y violations in main", { kind: "a11y", severity: "serious" }],
    ["no a11y violations", { kind: "a11y" }],
    ["request to '/api/*'", { kind: "request", request: { glob: "/api/*" } }],
    ["response **/api status is 404", { kind: "response", range: { from: 404, to: 404 } }],
    ["response time under 300ms", { kind: "time", metric: "response time", limit: 300 }],
    ["lcp under 2.5s", { metric: "lcp", limit: 2500 }],
    ["cls under 0.1", { kind: "cls", limit: 0.1 }],
  ])("reads %s", (text, wanted) => {
    expect(check(text)).toMatchObject(wanted);
  });

  it("parses prefixes and suffixes", () => {
    expect(assertionOf(" not h1 exists within 2s ")).toMatchObject({
      text: "not h1 exists within 2s",
      negated: true,
      within: 2_000,
    });
  });

  it("describes a target in a form that it parses", () => {
    for (const text of ["nth 2 button 'It\\'s' in `a b`", "last h1", "'x'", "link"]) {
      const read = check(`${text} exists`);
      if (!("target" in read) || read.target === undefined) throw new Error("no target");
      expect(describeTarget(read.target)).toBe(text);
    }
  });
});

describe("steps", () => {
  it.each([
    ["goto /login?x=1", { kind: "goto", url: "/login?x=1" }],
    [
      "click button 'Save' in `#form`",
      { kind: "click", target: { inside: { base: { css: "#form" } } } },
    ],
    ["double click li", { kind: "double click" }],
    ["fill 'Email' with 'a@b.c'", { kind: "fill", value: { text: "a@b.c" } }],
    [
      "fill label 'Password' with secret 'PASSWORD'",
      { kind: "fill", value: { secret: "PASSWORD" } },
    ],
    ["type 'hello'", { kind: "type" }],
    ["press Control+A on input", { kind: "press", key: "Control+A" }],
    ["uncheck label 'x'", { kind: "uncheck" }],
    ["select 'a', 'b' in select", { kind: "select", options: ["a", "b"] }],
    ["upload 'a.txt' to `input[type=file]`", { kind: "upload", files: ["a.txt"] }],
    ["hover nav", { kind: "hover" }],
    ["wait for 500ms", { kind: "wait", duration: 500 }],
    ["wait for h1", { kind: "wait for", assertion: { text: "h1 is visible" } }],
    ["wait for .spinner is hidden within 3s", { kind: "wait for", assertion: { within: 3_000 } }],
    ["wait for url contains 'done'", { kind: "wait for", assertion: { check: { what: "url" } } }],
    ["wait for network idle", { kind: "wait for idle" }],
    ["scroll to bottom", { kind: "scroll", edge: "bottom" }],
    ["drag `#a` to `#b`", { kind: "drag", to: { base: { css: "#b" } } }],
    // A letter that is also an element's name: a check on it would pass always, a step does not.
    [
      "drag 'a' to 'b'",
      { kind: "drag", from: { base: { text: "a" } }, to: { base: { text: "b" } } },
    ],
    ["scroll to 'p'", { kind: "scroll to", target: { base: { text: "p" } } }],
    ["screenshot of 'a'", { kind: "screenshot", target: { base: { text: "a" } } }],
    ["accept dialog with 'yes'", { kind: "accept dialog", text: "yes" }],
    ["go back", { kind: "back" }],
    ["screenshot 'a' of nav", { kind: "screenshot", name: "a" }],
    ["expect h1 contains 'x'", { kind: "expect", assertion: { text: "h1 contains 'x'" } }],
  ])("reads %s", (text, wanted) => {
    expect(parseStep(text).action).toMatchObject(wanted);
  });
});

describe("an invalid sentence", () => {
  it("is reported with a caret, what was expected, and an example", () => {
    expect(problem([], ["h1 contans 'Docs'"])).toBe(
      [
        "assertions[0] cannot be parsed:",
        "  h1 contans 'Docs'",
        "  ^ expected contains, is, matches, is not, exists, does not exist, count, value, has, href, src, placeholder, alt, lang, type, name or rel",
        "  for example: h1 contains 'Docs'",
      ]
        .join("\n")
        .replace("  ^", "     ^"),
    );
  });

  it("reports up to five invalid sentences at once", () => {
    const text = problem(
      ["clik x"],
      Array.from({ length: 7 }, () => "h1 contans 'x'"),
    );
    expect(text).toContain("steps[0] cannot be parsed");
    expect(text).toContain("assertions[3] cannot be parsed");
    expect(text).toContain("and 3 more.");
  });

  it("cannot run anything or stall the parser", () => {
    const long = `h1 contains '${"a".repeat(1_900)}`;
    expect(problem([], [long])).toContain("a closing '");
    // Each word can be read in several ways: together these would be more than any machine could try.
    const deep = [
      `${"button in ".repeat(180)}x`,
      `${"Save button in the Main section of the ".repeat(12)}x`,
    ];
    for (const text of deep) expect(problem([text], [text])).toContain("steps[0] cannot be parsed");
    expect(problem([`select ${"'a' and b and ".repeat(130)}`], [])).toContain("cannot be parsed");
    expect(problem([], ["x".repeat(2_001)])).toContain("the limit is 2000");
    expect(problem([], [`title matches /${"(a+)+".repeat(300)}(/`])).toContain("RE2");
  });
});
