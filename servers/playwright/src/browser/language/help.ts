import { CHECKS, type Row } from "./checks.ts";
import { STEPS } from "./steps.ts";

/** Examples by topic. */
type Topics = readonly (readonly [topic: string, examples: readonly string[]])[];

const TARGETS: Topics = [
  [
    "role and name",
    ["button 'Save'", "link 'Docs'", "heading 'News'", "textbox 'Email'", "alert", "dialog"],
  ],
  ["a field, by its label or placeholder", ["field 'Email'"]],
  [
    "label, text and others",
    [
      "label 'Email'",
      "text 'Hello'",
      "placeholder 'Search'",
      "alt 'Logo'",
      "title 'Close'",
      "testid 'row'",
    ],
  ],
  ["heading level", ["heading 'News' level 2", "heading level 1"]],
  ["by its text", ["li containing 'Lamp'", "button 'Add' in listitem containing 'Lamp'"]],
  ["the whole name", ["button exactly 'Save'", "exactly 'Welcome'"]],
  ["in a frame, by its title, name or id", ["button 'Pay' in frame 'Payment'"]],
  ["a text alone; for a field, its label or placeholder", ["'Welcome'"]],
  ["CSS, in backticks unless it is simple", ["h1", ".item.new", "`li:nth-child(2) > a`"]],
];

/** The examples of some rows, by their topics. */
function topicsOf(rows: Readonly<Record<string, Row>>): Topics {
  const topics = new Map<string, string[]>();
  for (const { topic, examples } of Object.values(rows))
    topics.set(topic, [...(topics.get(topic) ?? []), ...examples]);
  return [...topics];
}

/** The language in three tables, in Markdown. */
export const TABLES: Readonly<Record<"checks" | "targets" | "steps", Topics>> = {
  checks: topicsOf(CHECKS),
  targets: TARGETS,
  steps: topicsOf(STEPS),
};

const rowsOf = (topics: Topics) =>
  topics.map(([topic, examples]) => `| ${topic} | ${examples.join(" · ")} |`).join("\n");

const LINES = [
  "page.getByRole('button', { name: 'Save' }).click()",
  "page.getByLabel('Email').fill('a@b.c')",
  "expect(page.getByText('Saved')).toBeVisible()",
  "expect(page.locator('li').filter({ hasText: 'Lamp' })).toHaveCount(2, { timeout: 10000 })",
  "expect(page).toHaveURL(/done/)",
];

/** The language reference for people and models. */
export const GRAMMAR = `# Assertions

    ["expect"] ["not"] check ["within" 5s]

| checks | examples |
|---|---|
${rowsOf(TABLES.checks)}

A check waits up to 5 s, or for the time after within. Checks that begin with no, and quality checks, run last, once the page
has settled: no request in progress, no timer due within 2 s. Negative checks and counts must then still hold; the step wait for
only waits for them. Each sentence is one call of Playwright's \`expect\`: a target that matches several elements fails and lists
them; only exists, count and no accept any number. Patterns are RE2: no look-around, no back-references.

# Targets

    ["first" | "last" | "nth" 2] base ["containing" 'text'] ["in" target]

| base | examples |
|---|---|
${rowsOf(TABLES.targets)}

A name matches part of the text, in any letter case; after exactly, the whole text. A word that is both a role and an HTML
element, such as dialog, option or table, is the role; \`dialog\` in backticks is the element.

# Steps

| steps | examples |
|---|---|
${rowsOf(TABLES.steps)}

Every word counts: a sentence with another word is refused, with what was expected there; one that can't be checked (after
clicking, until, for 2s, is active, a color, a device) also with the sentence to send.

Setup steps (mock, use har, block, set cookie) at the beginning run before the page is opened. Put accept dialog before the step
that opens it; other dialogs are dismissed. A secret NAME is the server's environment variable PW_SECRET_NAME; its value is never
returned, and its field is not read or pictured. Files for upload, mocks and use har must be below an allowed directory. Of
several mocks and blocks for one request, the last one counts; use har leaves what it has not recorded to the server.

# Lines of Playwright

A line of Playwright is a sentence, too, in steps and, with expect, in assertions. It is one chain of calls on page whose
arguments are literals; nothing in it is evaluated, and a spec has it unchanged. A secret is process.env.PW_SECRET_NAME.

${LINES.map((line) => `    ${line}`).join("\n")}
`;
