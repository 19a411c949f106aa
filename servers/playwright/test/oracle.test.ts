import { chromium, type Locator, type Page, expect as playwrightExpect } from "playwright/test";
import { expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester } from "./testers.ts";

// An independent check of verdicts: the same checks, written by hand with Playwright's own API on the same page.
const expects = playwrightExpect.configure({ timeout: 500 });
const check = (subject: Locator) => expects(subject);
const INNER = { useInnerText: true };

interface Case {
  readonly body: string;
  /** A sentence, and the equivalent code of a Playwright user. */
  readonly checks: Readonly<Record<string, (page: Page) => Promise<unknown>>>;
}

const shadow = `<my-card></my-card><script>
  customElements.define("my-card", class extends HTMLElement {
    connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<p>hello Ada</p><button>Go</button>"; }
  });</script>`;
const PATCHES = `<script>
  Element.prototype.querySelectorAll = document.querySelectorAll = () => { throw new Error("patched"); };
  Element.prototype.getBoundingClientRect = () => ({ width: 0, height: 0 });
  Element.prototype.matches = () => false; Element.prototype.getAttribute = () => "patched";
  Object.defineProperty(Node.prototype, "textContent", { get: () => "patched" });
</script>`;

const CASES: Readonly<Record<string, Case>> = {
  "a visible div role=dialog": {
    body: `<div role="dialog" aria-label="Cookies">We use cookies</div><button>OK</button>`,
    checks: {
      "dialog is visible": (page) => check(page.getByRole("dialog")).toBeVisible(),
      "dialog is hidden": (page) => check(page.getByRole("dialog")).toBeHidden(),
      "dialog does not exist": (page) => check(page.getByRole("dialog")).toHaveCount(0),
      "dialog 'Cookies' contains 'cookies'": (page) =>
        check(page.getByRole("dialog", { name: "Cookies" })).toContainText("cookies"),
      "`dialog` exists": (page) => check(page.locator("dialog")).not.toHaveCount(0),
    },
  },
  "a dialog that is closed": {
    body: `<dialog>Shut</dialog><div role="dialog" hidden>Hidden</div>`,
    checks: {
      "dialog is hidden": (page) => check(page.getByRole("dialog")).toBeHidden(),
      "dialog is visible": (page) => check(page.getByRole("dialog")).toBeVisible(),
    },
  },
  "two buttons, one name the beginning of the other": {
    body: `<button>Save as…</button><button disabled>Save</button>`,
    checks: {
      "button 'Save' is visible": (page) =>
        check(page.getByRole("button", { name: "Save" })).toBeVisible(),
      "button exactly 'Save' is visible": (page) =>
        check(page.getByRole("button", { name: "Save", exact: true })).toBeVisible(),
      "button is disabled": (page) => check(page.getByRole("button")).toBeDisabled(),
      "last button is disabled": (page) => check(page.getByRole("button").last()).toBeDisabled(),
      "button 'Save' is not enabled": (page) =>
        check(page.getByRole("button", { name: "Save" })).not.toBeEnabled(),
    },
  },
  "a web component": {
    body: shadow,
    checks: {
      "`my-card` contains 'hello Ada'": (page) =>
        check(page.locator("my-card")).toContainText("hello Ada"),
      "`my-card` contains 'Bob'": (page) => check(page.locator("my-card")).toContainText("Bob"),
      "button 'Go' is enabled": (page) =>
        check(page.getByRole("button", { name: "Go" })).toBeEnabled(),
    },
  },
  "a page that patches the prototypes": {
    body: `${PATCHES}<h1>Real</h1><input aria-label="Name" value="Ada">`,
    checks: {
      "h1 is 'Real'": (page) => check(page.locator("h1")).toHaveText("Real"),
      "h1 is 'patched'": (page) => check(page.locator("h1")).toHaveText("patched"),
      "h1 is visible": (page) => check(page.locator("h1")).toBeVisible(),
      "label 'Name' has value 'Ada'": (page) => check(page.getByLabel("Name")).toHaveValue("Ada"),
    },
  },
  "options that are list items": {
    body: `<ul role="listbox"><li role="option">One</li><li role="option" aria-selected="true">Two</li></ul>`,
    checks: {
      "option count is 2": (page) => check(page.getByRole("option")).toHaveCount(2),
      "option count at least 3": (page) =>
        expects.poll(() => page.getByRole("option").count()).toBeGreaterThanOrEqual(3),
      "listbox contains 'Two'": (page) => check(page.getByRole("listbox")).toContainText("Two"),
    },
  },
  "fields in their states": {
    body: `<label>A <input disabled value="a"></label><label>B <input readonly value=""></label>
      <label><input type="checkbox" checked> C</label><div role="switch" aria-checked="false" aria-label="D"></div>
      <fieldset disabled><button>E</button></fieldset><p style="opacity: 0">F</p><p style="visibility: hidden">G</p>`,
    checks: {
      "textbox 'A' does not contain 'a'": (page) =>
        check(page.getByLabel("A")).not.toHaveValue(/a/),
      "label 'A' is disabled": (page) => check(page.getByLabel("A")).toBeDisabled(),
      "label 'A' is editable": (page) => check(page.getByLabel("A")).toBeEditable(),
      "label 'B' is editable": (page) => check(page.getByLabel("B")).toBeEditable(),
      "label 'B' is empty": (page) => check(page.getByLabel("B")).toBeEmpty(),
      "checkbox is checked": (page) => check(page.getByRole("checkbox")).toBeChecked(),
      "switch 'D' is unchecked": (page) => check(page.getByRole("switch")).not.toBeChecked(),
      "button 'E' is enabled": (page) => check(page.getByRole("button")).toBeEnabled(),
      "text 'F' is visible": (page) => check(page.getByText("F")).toBeVisible(),
      "text 'G' is visible": (page) => check(page.getByText("G")).toBeVisible(),
      "h1 does not contain 'x'": (page) => check(page.locator("h1")).not.toContainText("x"),
      "h1 is hidden": (page) => check(page.locator("h1")).toBeHidden(),
    },
  },
  "two tables, and no list": {
    body: `<table id="a"><thead><tr><td>A</td></tr></thead><tr><td>1</td></tr><tr><td>2</td></tr><tr><td>3</td></tr></table><table><tr><td>4</td></tr></table>`,
    checks: {
      "#a has 3 rows": (page) => check(page.locator("#a tbody tr")).toHaveCount(3),
      "first table has at most 2 rows": () => Promise.reject(),
      "last table has at most 2 rows": () => Promise.resolve(),
      "table has 4 rows": (page) => check(page.getByRole("table")).toHaveCount(1),
      "table has at least 4 rows": (page) => check(page.getByRole("table")).toHaveCount(1),
      "list has at most 5 links": (page) => check(page.getByRole("list")).toHaveCount(1),
      "at least 4 rows": (page) => check(page.locator("tbody tr")).toHaveCount(4),
      "exactly 2 tables are visible": (page) => check(page.getByRole("table")).toHaveCount(2),
    },
  },
  "text with a different structure": {
    body: `<h1>Two   <b>words</b>\n here</h1><h2>Gro\u0308ße</h2><p class="a b"></p><p id="z">\u00a0</p>
      <h3>Grö&shy;ße</h3><div>Not <b>sent</b><i hidden>Not sent</i> Total <i hidden>Total lost</i></div><script>history.replaceState(0, "", "/größe")</script>`,
    checks: {
      "h1 is 'Two words here'": (page) => check(page.locator("h1")).toHaveText("Two words here"),
      "h1 is 'two words here'": (page) => check(page.locator("h1")).toHaveText("two words here"),
      "h1 matches /^Two\\s+words/": (page) => check(page.locator("h1")).toHaveText(/^Two\s+words/),
      ".a has class 'b'": (page) => check(page.locator(".a")).toContainClass("b"),
      "h3 is not 'Größe'": (page) => check(page.locator("h3")).not.toHaveText("Größe"),
      "url does not contain 'größe'": (page) => expects(page).not.toHaveURL(/gr%C3%B6%C3%9Fe/),
      "h2 is 'Größe'": (page) => check(page.locator("h2")).toHaveText("Gro\u0308ße"),
      "h1 starts with 'Two words'": (page) => check(page.locator("h1")).toContainText("Two words"),
      "h1 ends with 'words'": (page) => check(page.locator("h1")).toHaveText(/words\s*$/),
      "h2 starts with 'Grö'": (page) => check(page.locator("h2")).toContainText("Gro\u0308"),
      "h2 contains 'röß'": (page) => check(page.locator("h2")).toContainText("ro\u0308ß"),
      "page does not contain 'Not sent'": (page) =>
        check(page.locator("div")).not.toHaveText(/Not sent/, INNER),
      "page does not contain 'Total lost'": (page) =>
        check(page.locator("div")).not.toHaveText(/Total lost/, INNER),
      ".a has class contains 'c'": (page) => check(page.locator(".a")).toHaveClass(/c/),
    },
  },
};

const web = await site(
  Object.fromEntries(Object.values(CASES).map(({ body }, index) => [`/${index}`, page(body)])),
);
const lab = makeTester();

it("agrees with hand-written checks with Playwright's own expect", async () => {
  const { executablePath } = await ensureBrowser();
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
  try {
    const compared = await Promise.all(
      Object.entries(CASES).map(async ([name, { checks }], index) => {
        const url = `${web.url}/${index}`;
        const page = await browser.newPage();
        await page.goto(url);
        const running = Object.values(checks).map((run) => run(page));
        const theirs = (await Promise.allSettled(running)).map((run) => run.status === "fulfilled");
        const sentences = Object.keys(checks);
        const lines = sentences.map((sentence) => `${sentence} within 500ms`);
        const { assertions } = await lab.run({ url, assertions: lines });
        return [
          { name, verdicts: assertions.map(({ passed }, n) => [sentences[n], passed]) },
          { name, verdicts: theirs.map((passed, n) => [sentences[n], passed]) },
        ] as const;
      }),
    );
    expect(compared.map(([ours]) => ours)).toEqual(compared.map(([, theirs]) => theirs));
    const all = compared.flatMap(([, { verdicts }]) => verdicts.map(([, passed]) => passed));
    expect(new Set(all)).toEqual(new Set([true, false]));
  } finally {
    await browser.close();
  }
});
