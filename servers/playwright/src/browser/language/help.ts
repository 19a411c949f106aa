import { FIELD_STATES, STATES } from "./ast.ts";
import { CHECKS, type Row } from "./checks.ts";
import { STEPS } from "./steps.ts";

/** The examples of each form. */
const examplesOf = (rows: Readonly<Record<string, Row>>): readonly string[][] =>
  Object.values(rows).map(({ examples }) => examples.split(" · "));

/** The language in three tables of examples, a row for each form. */
export const TABLES = {
  checks: examplesOf(CHECKS),
  targets: [
    ["button 'Save'", "link 'Docs'", "heading 'News'", "textbox 'Email'", "alert", "dialog"],
    ["'Welcome'", "text 'Hello'", "field 'Email'", "label 'Email'", "placeholder 'Search'"],
    ["alt 'Logo'", "title 'Close'", "testid 'row'"],
    ["heading 'News' level 2", "heading level 1"],
    ["li containing 'Lamp'", "button 'Add' in listitem containing 'Lamp'"],
    ["button exactly 'Save'", "exactly 'Welcome'"],
    ["button 'Pay' in frame 'Payment'", "field 'Card number' in iframe"],
    ["h1", ".item.new", "`li:nth-child(2) > a`"],
  ],
  steps: examplesOf(STEPS),
};

const listOf = (rows: readonly (readonly string[])[]) =>
  rows.map((examples) => `    ${examples.join(" · ")}`).join("\n");

export const LINES = [
  "page.getByRole('button', { name: 'Save' }).click()",
  "page.getByLabel('Email').fill('a@b.c')",
  "expect(page.getByText('Saved')).toBeVisible()",
  "expect(page.locator('li').filter({ hasText: 'Lamp' })).toHaveCount(2, { timeout: 10000 })",
  "expect(page).toHaveURL(/done/)",
];

/** The language reference for people and models. */
export const GRAMMAR = `# Assertions

    ["expect"] check ["within" 5s]

${listOf(TABLES.checks)}

States of an element: ${Object.keys(STATES).join(", ")}; of a field: ${Object.keys(FIELD_STATES).join(", ")}.

A check waits up to 5 s, or for the time after within. Checks that begin with no, and quality checks, run last, once the page
has settled: no request is in progress, and the timers that were due within 2 s have run. Negative checks and counts must then
still hold; the step wait for only waits for them. Each sentence is one call of Playwright's \`expect\`: a target that matches
several elements fails and lists them; only exists, count and no accept any number. Patterns are RE2: no look-around, no back-references.

# Targets

    ["first" | "last" | "nth" 2] base ["containing" 'text'] ["in" target]

${listOf(TABLES.targets)}

A base is a role and its name, a text alone, or CSS, in backticks unless it is simple. A name matches part of the text, in any
letter case; after exactly, the whole text. A text alone is text on the page; for a field and its states, its label or
placeholder. Alerts, status messages and list items have no names: a text after them is in them. A frame is named by its title,
name or id; if a page has only one, iframe is enough. A word that is both a role and an HTML element, such as dialog, option or
table, is the role; \`dialog\` in backticks is the element.

# Steps

${listOf(TABLES.steps)}

Every word counts: a sentence with another word is refused, with what was expected there and a sentence to send.

Setup steps (mock, use har, block, set cookie) at the beginning run before the page is opened. Put accept dialog or
dismiss dialog before the step that opens it: each is for the next dialog; others are dismissed. A secret NAME is the
server's environment variable PW_SECRET_NAME; its value is never returned, and its field is not read or pictured. Files
for upload, mocks and use har must be below an allowed directory. Of several mocks and blocks for one request, the last one
counts; use har leaves what it has not recorded to the server.

# Lines of Playwright

A line of Playwright is a sentence, too, in steps and, with expect, in assertions. It is one chain of calls on page whose
arguments are literals; nothing in it is evaluated, and a spec has it unchanged. A secret is process.env.PW_SECRET_NAME.

${listOf(LINES.map((line) => [line]))}
`;
