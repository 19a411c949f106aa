import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { folderOf } from "./session.ts";

/** Each defense of a secret: the code that it takes away, and an attack of docs/secret-attacks.md that succeeds then. */
const DEFENSES: readonly (readonly [
  what: string,
  file: string,
  from: string,
  to: string,
  attack: string,
])[] = [
  [
    "a field with a secret is held",
    "secrets/guard-engine.ts",
    "if (clean !== value) holdAs",
    "if (false) holdAs",
    "edit it there",
  ],
  [
    "keys do not edit a held field",
    "secrets/guard.ts",
    "if (isEdit && (await isHeld(page, field)))",
    "if (false)",
    "delete its last letter and read the rest",
  ],
  [
    "keys do not copy",
    "secrets/guard.ts",
    "(await mayCopy(page))",
    "false",
    "copy the text of the page",
  ],
  [
    "what shows it is not dragged",
    "secrets/guard.ts",
    'method === "dragTo"',
    "false",
    "drag the text that the page shows",
  ],
  [
    "fields that the write changed are held",
    "secrets/guard-engine.ts",
    "if (!hasPart(value)) pieces = instead;\n          holdAs(one, instead);",
    "",
    "read the fields of one digit each",
  ],
  [
    "fields drawn again are held",
    "secrets/guard-engine.ts",
    "!noted.has(node)) holdAs(node, pieces)",
    "false) holdAs(node, pieces)",
    "read them after the page has drawn them again",
  ],
  [
    "fields that the browser restores are held",
    "secrets/guard-engine.ts",
    "if (isRestored) pieces",
    "if (false) pieces",
    "come back to them",
  ],
  [
    "texts are read without it",
    "secrets/guard-engine.ts",
    'wrap(Node.prototype, "nodeValue textContent", text);',
    "",
    "wait for the text that the page shows",
  ],
  [
    "attributes are read without it",
    "secrets/guard-engine.ts",
    'wrap(Element.prototype, "getAttribute',
    'wrap(Element.prototype, "hasAttribute',
    "compare attributes and styles",
  ],
  [
    "styles are read without it",
    "secrets/guard-engine.ts",
    'wrap(CSSStyleDeclaration.prototype, "getPropertyValue", attribute);',
    "",
    "compare attributes and styles",
  ],
  [
    "generated texts are read without it",
    "secrets/guard-engine.ts",
    "if (!pseudo || !hasPart(own.content)) return own;",
    "return own;",
    "read a text that the page's style sheet shows",
  ],
  [
    "the value of a list is read without it",
    "secrets/guard-engine.ts",
    'wrap(HTMLSelectElement.prototype, "value", attribute);',
    "",
    "read the chosen option",
  ],
  [
    "pieces of text are joined",
    "secrets/guard-engine.ts",
    "if (isWritten) holdPieces(root);",
    "",
    "read its letters, one in each element",
  ],
  [
    "a mask covers what is drawn outside its element",
    "secrets/guard-engine.ts",
    "elementsOf(root).filter(shows).map(coverOf)",
    "elementsOf(root).filter(shows)",
    "look at a picture of a page that shows it larger than its element",
  ],
  [
    "a picture is blank if the whole page is not large enough for a mask",
    "secrets/guard.ts",
    "if (one === document.documentElement) return { isEverywhere: true };",
    "",
    "look at a picture of a page that shows it larger than the page",
  ],
  [
    "generated texts are masked",
    "secrets/guard-engine.ts",
    ")) ||\n    generates(one);",
    "));",
    "look at a picture of a page that shows it by the style sheet",
  ],
  [
    "shadows of texts are not drawn",
    "check/screenshot.ts",
    "style: FLAT",
    "style: ''",
    "look at a picture of a page that shows it as the shadow of its text",
  ],
  [
    "filters are not drawn",
    "check/screenshot.ts",
    "filter: none !important",
    "",
    "look at a picture of a page that shows it as the shadow that a filter draws",
  ],
  [
    "what SVG can copy has no mask",
    "secrets/guard-engine.ts",
    "generates(one) || one.closest(COPIED) !== null",
    "generates(one)",
    "look at a picture of a page that shows it in an SVG and in its copy",
  ],
  [
    "generated texts have no mask",
    "secrets/guard-engine.ts",
    "generates(one) || one.closest(COPIED) !== null",
    "one.closest(COPIED) !== null",
    "look at a picture of a page that shows it by the style sheet, larger than the element",
  ],
  [
    "quotation marks are read",
    "secrets/guard-engine.ts",
    "hasPart(style.quotes)",
    "false",
    "look at a picture of a page that shows it as a quotation mark",
  ],
  [
    "markers are read",
    "secrets/guard-engine.ts",
    "hasPart(listStyleType)",
    "false",
    "look at a picture of a page that shows it as the marker of a list",
  ],
  [
    "a picture is taken again if a mask has moved",
    "check/screenshot.ts",
    "(await at()) === before && (await at()) === before",
    "true",
    "look at a picture of a page that shows it moving by a script",
  ],
  [
    "pictures have masks",
    "check/screenshot.ts",
    "...masksOn(page)]",
    "]",
    "look at a picture of a page that shows it in a frame",
  ],
  [
    "selectors do not compare attributes",
    "secrets/guard.ts",
    "if (attributes.length === 0) return {};",
    "return {};",
    "find the field by the selector of its value",
  ],
  ["selectors are not XPath", "secrets/guard.ts", "(?:xpath=|", "(?:", "select by XPath"],
  [
    "selectors do not test the validity",
    "secrets/guard.ts",
    "if (/:(?:user-)?",
    "if (false && /:(?:user-)?",
    "select by validity",
  ],
  [
    "title and URL are compared without it",
    "check/check.ts",
    'check.kind === "page" && secretsOn(page) !== undefined',
    "false",
    "compare the URL",
  ],
  [
    "events are kept without it, and cut after that",
    "session/page-events.ts",
    "return clip(this.#see(text.slice(0, 10 * chars)), chars);",
    "return clip(text, chars);",
    "read the first letters where a long message is cut",
  ],
  [
    "the title is cut after it is removed",
    "session/page-session.ts",
    "secrets.seen((await",
    "((await",
    "read the first letters where a long title is cut",
  ],
  [
    "bodies are compared without it",
    "check/events.ts",
    "see((await read(line))",
    "((await read(line))",
    "match bodies and headers",
  ],
  [
    "headers are compared without it",
    "check/events.ts",
    "textMatches(see(value), compare)",
    "textMatches(value, compare)",
    "match bodies and headers",
  ],
  [
    "cookies are not compared",
    "check/events.ts",
    "if (secrets.isWritten) return { passed: false, actual: UNREAD };",
    "return { passed: textMatches(value, check.compare) !== check.compare.negated, actual: '' };",
    "compare a cookie",
  ],
  [
    "mocks match without it",
    "session/steps.ts",
    "matches(scope.secrets.seen(url.href))",
    "matches(url.href)",
    "mock the requests of a guess",
  ],
  [
    "code of a mock is not run with a state",
    "secrets/secrets.ts",
    "!this.isWritten && !this.#usesState",
    "!this.isWritten",
    "run code of the model on a page with a saved state",
  ],
  [
    "a state is not used after such code",
    "session/steps.ts",
    "secrets.usesState();",
    "",
    "mock a page first, and use the state then",
  ],
  [
    "pages of later runs are guarded",
    "session/page-session.ts",
    "if (secrets.all.isUsed) guard(context, secrets);",
    "",
    "read it in a later run where the site shows it",
  ],
  [
    "hexadecimal and Base64 are removed",
    "secrets/secrets.ts",
    'return [bytes.toString("hex"), ...aligned, ...forUrls];',
    "return [];",
    "match the value of the field",
  ],
  [
    "our own words stay",
    "secrets/secrets.ts",
    "[OWN_WORDS, ",
    "[",
    "delete its last letter and read the rest",
  ],
  [
    "traces are cleaned",
    "session/artifacts.ts",
    "if (!secrets.isEmpty) await redactZip(path, secrets);",
    "",
    "match the value of the field",
  ],
  [
    "a trace has no hash of what had it",
    "store/zip.ts",
    'names.set(hash, randomBytes(20).toString("hex"))',
    "names.set(hash, hash)",
    "match the value of the field",
  ],
  [
    "answers are cleaned",
    "verdict/tester.ts",
    "...secrets.redactIn({ ...shown, notes: all.length === 0 ? undefined : all }),",
    "...shown,",
    "delete its last letter and read the rest",
  ],
  [
    "names of downloads are cleaned",
    "session/downloads.ts",
    "secrets.redact(download.suggestedFilename())",
    "download.suggestedFilename()",
    "guess the name of a download",
  ],
];

const bin = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);

describe("without one of its defenses, a secret is read", () => {
  it.each(DEFENSES)("%s", async (_what, file, from, to, attack) => {
    const report = join(await folderOf("mutation"), "report.json");
    const args = [
      "run",
      "test/secret-attacks.test.ts",
      "--config",
      "test/mutation.config.ts",
      "--root",
      ".",
    ];
    const env = {
      ...process.env,
      MUTATION: JSON.stringify({ file, from, to }),
      MUTATION_REPORT: report,
    };
    const name = attack.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const ran = await promisify(execFile)(process.execPath, [bin, ...args, "-t", `${name}$`], {
      env,
    }).then(
      () => "",
      (error: unknown) => String(error),
    );
    const { numPassedTests, numFailedTests } = JSON.parse(
      await readFile(report, "utf8").catch((error: unknown) => {
        throw new Error(`${error}\n${ran}`);
      }),
    );
    expect({ numPassedTests, numFailedTests }).toEqual({ numPassedTests: 0, numFailedTests: 1 });
  });
});
