// The parts of linkedom that take most of a conversion's time, replaced in the bundle. What they do is the same, so the tests
// may run with the original.
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Per file: source texts and their replacements. @type {Record<string, readonly (readonly [string, string])[]>} */
const CHANGES = {
  // Each node and attribute has a map of event listeners in one WeakMap. Nothing listens to a page.
  "interface/event-target": [["wm.set(this, new Map);", ""]],
  // A class attribute has no repeated words from the start, so it needs no list (a Set) to read it.
  "shared/parse-from-string": [
    [
      "element.className = value;",
      String.raw`attribute[VALUE] = /\s/.test(value) ? [...new Set(value.split(/\s+/))].filter(Boolean).join(" ") : value;`,
    ],
  ],
  "interface/element": [
    ["return this.classList.value;", `return this.getAttributeNode("class")?.[VALUE] ?? "";`],
    ["MIME\n}", "MIME, VALUE\n}"],
    [
      "text.push(next.textContent);\n      next = next[NEXT];\n    }\n    return text.join('');",
      "text += next[VALUE];\n      next = next[NEXT];\n    }\n    return text;",
    ],
    ["get textContent() {\n    const text = [];", `get textContent() {\n    let text = "";`],
  ],
  "mixin/parent-node": [
    ["localCase(next) === tagName", "isUpper && localCase(next) === tagName"],
    [
      "getElementsByTagName(tagName) {",
      "getElementsByTagName(tagName) {\n    const isUpper = tagName === tagName.toUpperCase();",
    ],
  ],
  // Classes without members only make code that handles all elements slower; a title's are those of texts.
  "shared/register-html-class": [
    [
      "for (const name",
      `if (names === "title" || Object.getOwnPropertyNames(Class.prototype).length > 1) for (const name`,
    ],
  ],
  "shared/matches": [
    ["element.classList.value", "element.getAttributeNode('class')?.value ?? ''"],
    ["import {ELEMENT_NODE", 'import { parse } from "css-what";\nimport {ELEMENT_NODE'],
    [
      "export const prepareMatch =",
      `
const matchers = new Map;
export const prepareMatch = (element, selectors) => matchers.get(selectors) ?? grouped(element, selectors);
/** Elements and classes are looked up in sets. What is compiled with combinators keeps results, so it is not kept itself. */
const grouped = (element, selectors) => {
  if (selectors.includes(":scope") || !ignoreCase(element)) return compiled(element, selectors);
  const rules = parse(selectors);
  const is = (rule, type) => rule.length === 1 && !rule[0].namespace && rule[0].type === type;
  const isClass = rule => is(rule, "attribute") && rule[0].action === "element" && rule[0].name === "class" && rule[0].ignoreCase !== true;
  const names = new Set(rules.filter(rule => is(rule, "tag")).map(([{ name }]) => name.toLowerCase()));
  const classes = new Set(rules.filter(isClass).map(([{ value }]) => value));
  const rest = rules.filter(rule => !is(rule, "tag") && !isClass(rule));
  const isOther = rest.length > 0 ? compiled(element, rest) : () => false;
  const hasClass = ({ value }) => classes.has(value) || value.includes(" ") && value.split(" ").some(name => classes.has(name));
  const test = candidate => {
    const { localName } = candidate;
    // Readability makes elements with names in capitals.
    if (names.has(localName < "a" ? localName.toLowerCase() : localName)) return true;
    const attribute = classes.size > 0 ? candidate.getAttributeNode("class") : null;
    return (attribute !== null && hasClass(attribute)) || isOther(candidate);
  };
  if (rest.flat().every(({ type }) => type === "attribute" || type === "tag")) {
    if (matchers.size > 500) matchers.clear();
    matchers.set(selectors, test);
  }
  return test;
};
const compiled =`,
    ],
    [
      "export const matches = (",
      "export const matches = (element, selectors) => prepareMatch(element, selectors)(element);\nconst isMatch = (",
    ],
  ],
};

/** @type {import("esbuild").Plugin} */
export const fasterLinkedom = {
  name: "faster-linkedom",
  setup({ onLoad, onResolve, resolve }) {
    // linkedom has it by css-select only.
    onResolve({ filter: /^css-what$/ }, async ({ importer, kind }) => {
      if (!/linkedom[\\/]/.test(importer)) return undefined;
      const { path } = await resolve("css-select", {
        importer,
        kind,
        resolveDir: dirname(importer),
      });
      return resolve("css-what", { kind, resolveDir: dirname(path) });
    });
    onLoad({ filter: /linkedom[\\/]esm[\\/].*\.js$/ }, async ({ path }) => {
      const file = path.replaceAll("\\", "/").replace(/^.*\/linkedom\/esm\/|\.js$/g, "");
      let contents = await readFile(path, "utf8");
      for (const [from, to] of CHANGES[file] ?? []) {
        if (!contents.includes(from))
          throw new Error(`${path} has changed; check whether it still needs faster code`);
        contents = contents.replace(from, () => to);
      }
      return { contents };
    });
  },
};
