import { describe, expect, it } from "vitest";
import { assertionOf } from "../../../test/forms.ts";
import { exportSpec } from "../export/spec.ts";
import { parseStep } from "./parse.ts";
import { LanguageError } from "./reader.ts";

/** What a value means, without the places of its parts in the sentence. */
const meaning = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, one) => (key === "span" || key === "from" ? undefined : one)),
  );

const STEPS: Readonly<Record<string, string>> = {
  "go to /login": "goto /login",
  "visit /login": "goto /login",
  "navigate to /login": "goto /login",
  refresh: "reload",
  "refresh the page": "reload",
  "open /login": "goto /login",
  "click on button 'Save'": "click button 'Save'",
  "click the 'Save' button": "click button 'Save'",
  "click 2nd button": "click nth 2 button",
  "click link with text 'Docs'": "click link containing 'Docs'",
  "fill the 'Email' field with 'x'": "fill field 'Email' with 'x'",
  "wait 2 seconds": "wait for 2s",
  "dblclick li": "double click li",
  "hover over nav": "hover nav",
  "fill input 'Email' with 'x'": "fill field 'Email' with 'x'",
  "enter 'x' in 'City'": "type 'x' into 'City'",
  "press 'Enter' in 'City'": "press Enter on 'City'",
  "tick 'I agree'": "check 'I agree'",
  "untick 'I agree'": "uncheck 'I agree'",
  "select option 'Blue' from select 'Color'": "select 'Blue' in field 'Color'",
  "wait 500ms": "wait for 500ms",
  "wait until h1 exists": "wait for h1 exists",
  "take screenshot of nav": "screenshot of nav",
  "click the first button": "click first button",
  "click a button 'Save'": "click button 'Save'",
  "click '#save'": "click #save",
  "fill '[name=q]' with 'x'": "fill `[name=q]` with 'x'",
};
const CHECKS: Readonly<Record<string, string>> = {
  "h1 equals 'Docs'": "h1 is 'Docs'",
  "h1 text is 'Docs'": "h1 is 'Docs'",
  "page title is 'Docs'": "title is 'Docs'",
  "second li is 'two'": "nth 2 li is 'two'",
  "image 'Logo' is visible": "img 'Logo' is visible",
  "'I agree' checkbox is checked": "checkbox 'I agree' is checked",
  "'Email' value is 'x'": "'Email' has value 'x'",
  "link 'Docs' href is '/docs'": "link 'Docs' has href is '/docs'",
  "h1 has css 'color' 'red'": "h1 has style 'color' 'red'",
  "h1 includes 'Docs'": "h1 contains 'Docs'",
  "h1 has text 'Docs'": "h1 contains 'Docs'",
  "'Saved' to be visible": "'Saved' is visible",
  "'Saved' should be visible": "'Saved' is visible",
  "'Saved' is displayed": "'Saved' is visible",
  "nav is present": "nav exists",
  "nav is not present": "nav does not exist",
  "li has count 3": "li count is 3",
  "li count fewer than 3": "li count less than 3",
  "status code is 200": "status is 200",
  "no accessibility violations": "no a11y violations",
  "lcp below 2s": "lcp under 2s",
  "verify h1 is 'Docs'": "h1 is 'Docs'",
  "the heading 'News' inside main exists": "heading 'News' in main exists",
};

describe("another wording", () => {
  it.each(Object.entries(STEPS))("%s means %s", (text, own) => {
    expect(meaning(parseStep(text).action)).toEqual(meaning(parseStep(own).action));
  });
  it.each(Object.entries(CHECKS))("%s means %s", (text, own) => {
    expect(meaning(assertionOf(text).check)).toEqual(meaning(assertionOf(own).check));
  });
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
    expect(parseStep(EXPECTS[0] ?? "").action.kind).toBe("expect");
  });

  it("is refused with anything that is not data, at its place", () => {
    for (const marked of [
      "page.evaluate(‸() => 1)",
      "page.‸evaluate('1')",
      "page.getByText(‸`a\u0024{b}`).click()",
      "page.getByText(‸name).click()",
      "page.getByText('a' ‸+ 'b').click()",
      "page.getByRole('button').‸click({ force: true })",
      "page.getByRole('button').‸click().then()",
      "page.getByRole('button').click(); ‸page.reload()",
      "page.‸click('button')",
      "page.getByText(‸/(?=a)/).click()",
      "page.goto(‸process.env.HOME)",
      "page.‸goto('file:///etc/passwd')",
      "page.‸goto('/a', { timeout: 1 })",
      "expect(‸await page.title()).toBe('x')",
      "expect(page.getByText('x')).‸toBeMagic()",
      "expect(page.‸constructor('x')).toBeVisible()",
      "page.getByText('x').‸__proto__.click()",
      "page.locator('x').filter({ ‸secret: 'X' }).click()",
    ]) {
      const at = marked.indexOf("‸");
      const refused = () => parseStep(marked.replace("‸", ""));
      expect(refused, marked).toThrow(LanguageError);
      expect(refused, marked).toThrow(expect.objectContaining({ at }));
    }
  });
});

describe("a sentence that cannot be checked unchanged", () => {
  it.each([
    ["li 2 contains 'x'", "nth 2 li contains 'x'"],
    ["'Ada' and 'Bob' are visible", "'Ada' is visible"],
    ["no broken links", "no failed requests"],
    ["no errors", "no console errors"],
    ["no network errors", "no failed requests"],
    ["tab 'Details' is active", "tab 'Details' is selected"],
  ])("%s is refused with the sentence to send: %s", (text, send) => {
    expect(() => assertionOf(text)).toThrow(expect.objectContaining({ example: `expect ${send}` }));
    expect(() => assertionOf(send)).not.toThrow();
  });

  it("is refused as a step, too", () => {
    const refused = () => parseStep("click li 2 in nav");
    expect(refused).toThrow(expect.objectContaining({ example: "click nth 2 li in nav" }));
  });
});
