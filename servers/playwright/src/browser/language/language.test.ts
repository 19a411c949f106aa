import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as forms from "../../../test/forms.ts";
import { exportSpec } from "../export/spec.ts";
import { CHECKS } from "./checks.ts";
import { TABLES } from "./help.ts";
import { parseScript, parseStep } from "./parse.ts";
import { LanguageError } from "./reader.ts";
import { actsOf, expectationOf, isElementCheck, isRepeated } from "./sentences.ts";
import { STEPS } from "./steps.ts";

const { assertionOf } = forms;

/** Whether sentences have every form of an assertion and of a step. */
function expectEvery(assertions: readonly string[], actions: readonly string[]): void {
  const checks = new Set<string>(assertions.map((text) => assertionOf(text).check.kind));
  const steps = new Set<string>(actions.map((text) => parseStep(text).action.kind));
  expect(Object.keys(CHECKS).filter((kind) => !checks.has(kind))).toEqual([]);
  expect(Object.keys(STEPS).filter((kind) => !steps.has(kind))).toEqual([]);
}

it("every form is in the tables that are run on pages", () => {
  const checks = [...forms.CHECKS, ...forms.ABSENCES].map(([holds]) => holds);
  expectEvery(checks, forms.playing([...forms.AROUND, ...forms.STEPS], "a"));
});

const assertions = [
  ...TABLES.checks.flat(),
  ...TABLES.targets.flat().map((target) => `${target} exists`),
];
const actions = TABLES.steps.flat();

it("the reference has an example of every form, and is in README.md", () => {
  expectEvery(assertions, actions);
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  for (const example of Object.values(TABLES).flat(2)) expect(readme).toContain(example);
});

const WORDINGS: Readonly<Record<string, string>> = {
  "navigate to /login": "goto /login",
  "click on the 'Save' button": "click button 'Save'",
  "fill the 'Email' field with 'x'": "fill field 'Email' with 'x'",
  "press 'Enter' in 'City'": "press Enter on 'City'",
  "select option 'Blue' from select 'Color'": "select 'Blue' in field 'Color'",
  "click '#save'": "click #save",
  "click image 'Logo'": "click img 'Logo'",
  "click li with text 'x'": "click li containing 'x'",
  "verify h1 includes 'x'": "expect h1 contains 'x'",
  "verify h1 equals 'Docs'": "expect h1 is 'Docs'",
  "expect second ul > li + p ~ p text is 'x'": "expect nth 2 `ul > li + p ~ p` is 'x'",
  "wait for .spinner to disappear": "wait for .spinner is hidden",
  "wait for 'Saved' to appear within 2m": "wait for text 'Saved' is visible within 120s",
  "fill 'City' with 'a\\tb\\nc'": "fill field 'City' with 'a\tb\nc'",
  "press Cmd+A": "press Meta+a",
  "press Esc": "press Escape",
  "click 'It's done'": 'click text "It\'s done"',
  "expect no requests to localhost": "expect no requests to 'localhost'",
  "expect request to /x has body containing 'y'": "expect request to /x contains 'y'",
  "expect 3rd li in iframe 'In' is 'x'": "expect nth 3 li in frame 'In' is 'x'",
  "click 'h1'": "click text 'h1'",
  "expect 'Email' value is 'x'": "expect 'Email' has value 'x'",
  "expect 'Saved' should be visible": "expect text 'Saved' is visible",
  "expect status code is 200": "expect status is 200",
  "expect h1 doesn't contain 'x'": "expect h1 does not contain 'x'",
  "expect 'Saved' isn’t visible": "expect 'Saved' is not visible",
  "wait until the heading 'News' inside main exists": "wait for heading 'News' in main exists",
};
it.each(Object.entries(WORDINGS))("another wording: %s means %s", (text, own) => {
  const meaning = (sentence: string) => {
    const { action } = parseStep(sentence);
    const check = "assertion" in action ? action.assertion.check : undefined;
    const isPlanned = check !== undefined && isElementCheck(check);
    const plan = isPlanned ? expectationOf(check) : (check ?? actsOf(action) ?? action);
    // A target keeps the words of its sentence.
    return JSON.stringify(plan, (key, value: unknown) => (key === "text" ? "" : value));
  };
  expect(meaning(text)).toEqual(meaning(own));
});

it("a check that can be true only at first is repeated once the page has settled", () => {
  const states = ["hidden", "disabled", "empty", "collapsed"].map((state) => `h1 is ${state}`);
  const calls = ["BeHidden()", "BeDisabled()", "BeEmpty()", "HaveCount(1)", "HaveText('')"];
  const lines = calls.map((call) => `expect(page.locator('p')).to${call}`);
  const others = [
    "h1 does not exist",
    "h1 does not contain 'x'",
    "title is not 'x'",
    "li count is 3",
  ];
  for (const text of [...states, ...lines, ...others, "exactly 1 h1", "table has 5 rows"])
    expect(isRepeated(assertionOf(text)), text).toBe(true);
  for (const text of ["h1 exists", "h1 is 'x'", "h1 is visible"])
    expect(isRepeated(assertionOf(text)), text).toBe(false);
});

describe("a line of Playwright", () => {
  const LINES = [
    "page.getByRole('button', { name: 'Save', exact: true }).click()",
    "page.getByLabel(\"Email\").fill('it\\'s')",
    "page.locator('li').filter({ has: page.getByRole('link'), hasText: /x/i }).nth(1).hover()",
    "page.frameLocator('#pay').getByText('Go').first().dblclick({ position: { x: 1, y: 2 } })",
    "page.getByLabel('Color').selectOption(['a', 'b'])",
    "page.keyboard.press('Control+A')",
    "page.getByLabel('Password').fill(process.env.PW_SECRET_PASSWORD ?? '')",
  ];
  const EXPECTS = [
    "expect(page.getByText('Saved')).toBeVisible()",
    "expect(page.getByText('Saved')).not.toBeVisible({ timeout: 100 })",
    "expect(page.locator('li')).toHaveText(['a', /b/])",
    "expect(page.getByRole('link')).toHaveAttribute('href', '/x')",
    "expect(page).toHaveURL(/done/)",
  ];

  it("is a sentence, and exported unchanged", () => {
    const spec = exportSpec({
      ...{ title: "t", url: "http://localhost/", device: undefined },
      steps: LINES.map((line) => `await ${line};`),
      assertions: EXPECTS,
    });
    for (const line of [...LINES, ...EXPECTS]) expect(spec).toContain(`  await ${line};\n`);
    expect(assertionOf(EXPECTS[1] ?? "")).toMatchObject({ within: 100 });
  });

  it.each([
    "page.‸evaluate(() => 1)",
    "page.getByText(‸`a\u0024{b}`).click()",
    "page.getByText(‸name).click()",
    "page.getByRole('button').‸click({ force: true })",
    "page.getByRole('button').click(); ‸page.reload()",
    "page.‸click('button')",
    "page.getByText(‸/(?=a)/).click()",
    "page.‸goto('file:///etc/passwd')",
    "expect(‸await page.title()).toBe('x')",
    "expect(page.‸constructor('x')).toBeVisible()",
    "page.locator('x').filter({ ‸secret: 'X' }).click()",
    "page.getByText(‸process.env.PW_SECRET_X).click()",
    "page.‸getByText().click()",
    "page.getByText('x').‸click('x')",
  ])("is refused where it is not data: %s", (marked) => {
    const refused = () => parseStep(marked.replace("‸", ""));
    expect(refused).toThrow(LanguageError);
    expect(refused).toThrow(expect.objectContaining({ at: marked.indexOf("‸") }));
  });
});

/** Sentences with a mistake at ‸, and what is expected there. */
const MISTAKES: readonly (readonly [marked: string, expected: string])[] = [
  ["‸clik 'x'", "click"],
  ["click button 'a' ‸twice", "the end of the step"],
  ["goto ‸file:///etc/passwd", "file: is not allowed"],
  ["goto ‸login", "a URL, or a path"],
  ["fill 'x' with secret ‸'a-b'", "letters, digits and _"],
  ["expect title ‸contians 'x'", "contains, does not contain, is not, is, matches"],
  ["expect h1 contains ‸'Docs", "a closing '"],
  ["expect h1 matches ‸/(?=a)/", "no look-around"],
  ["expect h1 matches ‸/(?P<n>x)/", "both JavaScript and RE2"],
  ["expect h1 matches ‸/x/g", "only the flags"],
  ["expect h1 has ‸color 'red'", "value, class, style, attribute"],
  ["expect ‸nth 0 li exists", "a position from 1"],
  ["expect no ‸ul > item", "an HTML element"],
  ["expect no ‸> li", "a target: CSS"],
  ["expect no ‸.nav > link", "backticks"],
  ["set ‸viewport to 375x667", "the argument devices"],
  ["wait ‸11m", "at most 10m"],
  ["press x ‸51 times", "up to 50"],
  ["expect no requests to ‸API /x", "a URL pattern"],
  ["expect ‸'.spinner' is hidden", ".spinner without quotes for CSS, or text '.spinner'"],
  ["expect ‸frame 'Inner' is visible", "an element, and then in frame"],
  ["expect label ‸'' exists", "a text that is not empty"],
  ["expect no ‸console erors", "console errors"],
  ["expect h1 exists ‸and more", "the end, or within and a time"],
];

/** Sentences that models write and nobody can check, and the sentence to send. */
const REFUSED: Readonly<Record<string, string>> = {
  "no broken links": "no failed requests",
  "no console errors or warnings": "no console errors",
  "no requests to third-party domains": "no requests to ads.example.com",
  "no disabled buttons": "all forms",
  "no cookie-banner": "no .cookie-banner",
  "dialog 'Edit' is open": "dialog 'Edit' is visible",
  "all images are loaded": "no broken images",
  "link 'Docs' points to '/docs'": "link 'Docs' has href '/docs'",
  "the search field has focus": "field 'Search' is focused",
  "li 2 contains 'x'": "nth 2 li contains 'x'",
  "'Ada' and 'Bob' are visible": "'Ada' is visible",
  "no console errors after clicking the Save button": "no console errors",
  "'Error' is not visible while loading": "'Error' is not visible",
  "tab 'Details' is active": "tab 'Details' is selected",
  "'Buy now' is visible above the fold": "'Buy now' is in viewport",
  "the green 'Save' button is visible": "button 'Save' is visible",
  "menu is closed": "all forms",
  "h1 is displayed correctly": "h1 is displayed",
  "not 'Error' is visible": "'Error' is not visible",
  "list 'Basket' has 3 items": "list 'Basket' has 3 li",
  "h1 exists and h2 is 'x'": "h1 exists · expect h2 is 'x'",
  "h1 exists; no .b": "h1 exists · expect no .b",
  // One word for both claims.
  "at most 2 li and 3 p": "li count at least 2",
  "no PUT requests to /api": "no requests to PUT /api",
  "field 'Color' has selected option 'Blue'": "option 'Blue' in field 'Color' is selected",
  "table #users has 10 rows": "#users has 10 rows",
  "first tbody tr contains 'Ada'": "first `tbody tr` contains 'Ada'",
  "button 'Save' is enabled so that the user can continue": "button 'Save' is enabled",
  "no li contains 'x'": "no li containing 'x'",
  "no .error is visible": ".error is not visible",
  "title is 'x' or 'y'": "title is 'Docs'",
  "li don't contain 'x'": "h1 does not contain 'x'",
  "h1 has no class 'big'": "h1 has class is not 'big'",
  "link does not have attribute target": "all forms",
  "status is not 404": "all forms",
  "no horizontal scrollbar": "no horizontal overflow",
  "no requests to “ads.example.com”": "no requests",
  "code 'npm i' is visible": "code containing 'npm i' is visible",
};
const REFUSED_STEPS: Readonly<Record<string, string>> = {
  "click li 2 in nav": "click nth 2 li in nav",
  "click 'Save' until no more items are shown": "click 'Save'",
  "click 'Save' unless it is disabled": "click 'Save'",
  "click the blue button": "click",
  "set device to iPhone 15": "set cookie",
  "wait for navigation": "wait for url contains '/done'",
};

describe("a sentence that is not entirely understood", () => {
  const problem = (steps: readonly string[], assertions: readonly string[] = []): Error => {
    try {
      parseScript(steps, assertions);
    } catch (error) {
      if (error instanceof Error) return error;
    }
    throw new Error("it can be parsed");
  };

  it.each(MISTAKES)("%s: %s", (marked, expected) => {
    const text = marked.replace("‸", "");
    const error = problem([text]);
    const [title, sentence, caret = "", example] = error.message.split("\n");
    expect([title, sentence]).toEqual(["steps[0] cannot be parsed:", `  ${text}`]);
    expect(caret.indexOf("^") - 2).toBe(marked.indexOf("‸"));
    expect(caret).toContain(expected);
    expect(example).toMatch(/^ {2}(?:for example|all forms): \S/);
    expect(error).toMatchObject({ kind: "invalid", code: "grammar" });
  });

  it.each([
    ...Object.entries(REFUSED).map(([text, send]) => [`expect ${text}`, `expect ${send}`]),
    ...Object.entries(REFUSED_STEPS),
  ])("%s is refused, with the sentence to send: %s", (text, send) => {
    const { message } = problem([text]);
    const [, example = "expect all forms: pw://help/assertions"] =
      /for example: (.*)/.exec(message) ?? [];
    expect(example).toContain(send);
    if (!example.includes("pw://")) expect(() => example.split(" · ").map(parseStep)).not.toThrow();
  });

  it("is reported with up to four others, in time for any text", () => {
    const many = problem(
      ["clik x"],
      Array.from({ length: 7 }, () => "h1 contans 'x'"),
    ).message;
    expect(many).toContain("steps[0] cannot be parsed");
    expect(many).toContain("assertions[3] cannot be parsed");
    expect(many).toContain("and 3 more.");
    // Each word can be read in several ways: together these would be more than any machine could try.
    for (const text of [
      `h1 contains '${"a".repeat(1_900)}`,
      `click ${"button in ".repeat(180)}x`,
      `select ${"'a' and b and ".repeat(130)}`,
      `expect title matches /${"(a+)+".repeat(300)}(/`,
      `click '${"a.b ".repeat(400)}!`,
      `click '${"x".repeat(2_000)}'`,
    ])
      expect(problem([text]).message).toContain("steps[0] ");
  });
});
