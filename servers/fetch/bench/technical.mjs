// How much of a technical page is kept: headings, signatures, code, tables, and what a deep link answers. The pages are those
// of Debian's documentation packages that are installed, below REFMCP_DOCS or /usr/share/doc; `lib/technical-pages.mjs` lists
// them, and reads the truth from their HTML.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peers } from "../../../scripts/lib/bench-kit.mjs";
import { NAMES, PEERS, Pipeline } from "./lib/pipeline.mjs";
import { GENERATORS } from "./lib/technical-pages.mjs";

/** @typedef {import("./lib/pipeline.mjs").Name} Name */
/** @typedef {import("./lib/technical-pages.mjs").Generator} Generator */
/** @typedef {{ text: string, id: string, isHeading: boolean, other: string | undefined }} Target */
/** @typedef {ReturnType<typeof truthOf>} Truth */
/** @typedef {Record<string, [kept: number, all: number]>} Counts */

export const title = "Fetch: technical pages";

const FOLDER = process.env.REFMCP_DOCS ?? "/usr/share/doc";
const MEASURES = ["headings", "signatures", "code", "languages", "rows", "links"];
const HEADINGS = "h1, h2, h3, h4, h5, h6";
const BLOCKS = `${HEADINGS}, p, pre, li, td`;
/** How many deep links of a page are followed. */
const LINKS = 10;

/**
 * Text without whitespace, zero-width spaces, signs of permalinks and marks of footnotes, and with plain digits for superscript.
 *
 * @param {string | null} text
 */
const squash = (text) =>
  (text ?? "").replace(/[\s\u200b¶§◆🔗]+|\[\^[^\]\s]+\]/gu, "").normalize("NFKC");
/** @param {string | null} code */
const exact = (code) => (code ?? "").replace(/^(?:[ \t]*\n)+/, "").trimEnd();

/** What a page has, by the rules of its generator. @param {Document} document @param {Generator} rules */
export function truthOf(document, rules) {
  const main = document.querySelector(rules.main ?? "body") ?? document.body;
  /** @param {Element} element */
  const clean = (element) => {
    const copy = /** @type {Element} */ (element.cloneNode(true));
    if (rules.dropped) for (const part of copy.querySelectorAll(rules.dropped)) part.remove();
    for (const br of copy.querySelectorAll("br")) br.replaceWith("\n");
    return copy;
  };
  /** @param {Element} element */
  const textOf = (element) => squash(clean(element).textContent);
  /** @param {string | undefined} selector @returns {Element[]} */
  const all = (selector) => (selector ? [...main.querySelectorAll(selector)] : []);
  const headings = all(rules.headings ?? HEADINGS).filter((heading) => textOf(heading) !== "");
  const signatures = all(rules.signatures).filter((signature) => textOf(signature) !== "");
  const code = all(rules.code ?? "pre").map((block) => ({
    text: exact(
      block.localName === "div"
        ? [...clean(block).children].map((line) => line.textContent).join("\n")
        : clean(block).textContent,
    ),
    language: rules.language?.(block),
  }));
  const rows = all(rules.tables)
    .flatMap((table) => [...table.querySelectorAll(rules.rows ?? "tr")])
    .filter((row) => row.querySelector("table") === null)
    .map((row) => [...row.children].map(textOf));
  for (const { children } of all(rules.grid)) {
    const cells = [...children];
    const width = cells.findIndex((cell) => !cell.classList.contains("table-header"));
    for (let at = 0; width > 0 && at < cells.length; at += width)
      rows.push(cells.slice(at, at + width).map(textOf));
  }
  return {
    headings: headings.map(textOf),
    signatures: signatures.map(textOf),
    code: code.filter(({ text }) => text !== ""),
    rows: rows.map((row) => row.filter((cell) => cell !== "")).filter((row) => row.length > 1),
    targets: targetsOf(headings, signatures, rules, textOf),
  };
}

/**
 * A sample of the headings and signatures with an id, and what must not be in their section: the next heading of the same or a
 * higher level, the next signature that is not part of it.
 *
 * @param {Element[]} headings @param {Element[]} signatures @param {Generator} rules @param {(element: Element) => string} textOf
 * @returns {Target[]}
 */
function targetsOf(headings, signatures, rules, textOf) {
  /** @type {Target[]} */
  const targets = [];
  const starts = [...headings, ...signatures];
  for (const element of starts) {
    const id = idOf(element, starts);
    const isHeading = headings.includes(element);
    const named = id && element.ownerDocument.getElementById(id);
    const around = named && named !== element && named.contains(element) ? named : undefined;
    const scope = isHeading
      ? (around ?? element)
      : (rules.scope && element.closest(rules.scope)) || element;
    const next = (isHeading ? headings : signatures).find(
      (candidate) =>
        Boolean(scope.compareDocumentPosition(candidate) & 4) &&
        !scope.contains(candidate) &&
        (!isHeading || candidate.localName <= element.localName),
    );
    const [text, other] = [textOf(element), next && textOf(next)];
    if (id === undefined) continue;
    targets.push({
      text,
      id,
      isHeading,
      other: other === undefined || text.includes(other) ? undefined : other,
    });
  }
  const step = targets.length / Math.min(LINKS, targets.length || 1);
  return targets.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/**
 * The id of an element, of an anchor in it or before it, or of the outermost element that it begins.
 *
 * @param {Element} element @param {Element[]} starts
 */
function idOf(element, starts) {
  const inside =
    element.id ||
    element.querySelector("[id]")?.id ||
    element.querySelector("a[name]")?.getAttribute("name");
  const before = element.previousElementSibling;
  if (inside) return inside;
  if (before?.localName === "a" && before.textContent === "")
    return before.id || before.getAttribute("name") || undefined;
  const around = element.closest("section[id], div[id], details[id], h2[id]");
  return around && starts.find((start) => around.contains(start)) === element
    ? around.id
    : undefined;
}

/** How many of a list are in another, in order. @param {string[]} wanted @param {string[]} texts */
function inOrder(wanted, texts) {
  let at = 0;
  return wanted.filter((text) => {
    const index = texts.indexOf(text, at);
    if (index >= 0) at = index + 1;
    return index >= 0;
  }).length;
}

/** How many texts are in another, in order. @param {string[]} wanted @param {string} text */
function within(wanted, text) {
  let at = 0;
  return wanted.filter((part) => {
    const index = text.indexOf(part, at);
    if (index >= 0) at = index + part.length;
    return index >= 0;
  }).length;
}

/**
 * How much of a page its Markdown has, as a reader sees it.
 *
 * @param {Truth} truth @param {DocumentFragment} page
 * @returns {Counts}
 */
export function countKept({ headings, signatures, code, rows }, page) {
  /** @type {Map<string, (string | undefined)[]>} */
  const blocks = new Map();
  for (const pre of page.querySelectorAll("pre")) {
    const language = /language-(\S+)/.exec(pre.firstElementChild?.getAttribute("class") ?? "")?.[1];
    const text = exact(pre.textContent);
    blocks.set(text, [...(blocks.get(text) ?? []), language?.replace("python3", "python")]);
  }
  for (const cell of page.querySelectorAll("td, th")) {
    // Code in a cell is lines of inline code, with a text before or after it.
    const parts = [...cell.childNodes].map(({ nodeName, textContent }) =>
      nodeName === "BR"
        ? "\n"
        : nodeName === "CODE"
          ? textContent
          : textContent?.trim()
            ? "\0"
            : "",
    );
    for (const part of parts.join("").split("\0")) blocks.set(exact(part), [undefined]);
  }
  const tableRows = new Set(
    [...page.querySelectorAll("tr")].map((row) =>
      JSON.stringify(
        [...row.children].map((cell) => squash(cell.textContent)).filter((cell) => cell !== ""),
      ),
    ),
  );
  const named = code.filter(({ language }) => language !== undefined);
  return {
    headings: [inOrder(headings, headingsIn(page)), headings.length],
    signatures: [within(signatures, squash(page.textContent)), signatures.length],
    code: [code.filter(({ text }) => blocks.has(text)).length, code.length],
    languages: [
      named.filter(({ text, language }) => blocks.get(text)?.includes(language)).length,
      named.length,
    ],
    rows: [rows.filter((row) => tableRows.has(JSON.stringify(row))).length, rows.length],
  };
}

/** @param {DocumentFragment} page */
const headingsIn = (page) =>
  [...page.querySelectorAll(HEADINGS)].map((heading) => squash(heading.textContent));

/** Whether a section has its own heading or signature, and not the next one. @param {Target} target @param {DocumentFragment} page */
export function isSection({ text, isHeading, other }, page) {
  const headings = isHeading ? headingsIn(page) : undefined;
  const blocks = [...page.querySelectorAll(BLOCKS)].map((element) => squash(element.textContent));
  // A description may mention the next signature, whose own block begins with it.
  const hasOther =
    other !== undefined &&
    (headings?.includes(other) ?? blocks.some((block) => block.startsWith(other)));
  return (headings?.includes(text) ?? squash(page.textContent).includes(text)) && !hasOther;
}

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  if (!Object.values(GENERATORS).some(({ pages: [page] }) => existsSync(join(FOLDER, page ?? ""))))
    return `no documentation of Debian's packages in ${FOLDER}`;
  const modules = (await peers(PEERS))("");
  const require = createRequire(join(modules, "anchor.js"));
  // Only the folder of the peers has them.
  const { marked } = require(/** @type {string} */ ("marked"));
  const { JSDOM } = require(/** @type {string} */ ("jsdom"));
  /** @param {string | undefined} markdown */
  const rendered = (markdown) => JSDOM.fragment(marked.parse(markdown ?? "", { async: false }));
  const names = /** @type {Name[]} */ (["here", "readability", "defuddle"]);
  const pipelines = names.map((name) => new Pipeline(name, modules));
  /** @type {string[][]} */
  const rows = [];
  /** @type {Counts[]} */
  const total = names.map(() => ({}));
  let pages = 0;
  for (const [generator, rules] of Object.entries(GENERATORS)) {
    /** @type {Counts[]} */
    const counts = names.map(() => ({}));
    /** @param {number} index @param {string} measure @param {number[]} added */
    const add = (index, measure, [good = 0, all = 0]) => {
      for (const sums of [counts[index], total[index]]) {
        const [before, of] = sums?.[measure] ?? [0, 0];
        if (sums) sums[measure] = [before + good, of + all];
      }
    };
    const files = rules.pages.map((page) => join(FOLDER, page)).filter((file) => existsSync(file));
    for (const file of files) {
      const html = readFileSync(file, "utf8");
      const truth = truthOf(new JSDOM(html).window.document, rules);
      const url = "https://mill.example/page.html";
      for (const [index, pipeline] of pipelines.entries())
        for (const [measure, count] of Object.entries(
          countKept(truth, rendered(await pipeline.markdown(html, url))),
        ))
          add(index, measure, count);
      for (const target of truth.targets)
        add(0, "links", [
          Number(isSection(target, rendered(await pipelines[0]?.markdown(html, url, target.id)))),
          1,
        ]);
    }
    pages += files.length;
    if (files.length > 0) rows.push([generator, String(files.length), ...figures(counts)]);
  }
  for (const pipeline of pipelines) await pipeline.close();
  report({
    title: `Kept of ${pages} pages of Debian's documentation packages, in percent: here / readability / defuddle`,
    columns: ["generator", "pages", ...MEASURES],
    rows: [...rows, ["all", String(pages), ...figures(total)]],
    notes: [
      `${NAMES.readability} with its plugin for tables and ${NAMES.defuddle}, on jsdom. Signatures (and parameters) and headings in their order, code blocks byte for byte and with their language, rows of tables with all their cells, and up to ${LINKS} deep links a page that answer with their own section and not the next, which the peers do not have.`,
    ],
  });
  return undefined;
}

/** @param {Counts[]} counts */
function figures(counts) {
  return MEASURES.map((measure) =>
    counts
      .map((count) => count[measure])
      .filter((count) => count !== undefined && count[1] > 0)
      .map((count) => ((100 * (count?.[0] ?? 0)) / (count?.[1] ?? 1)).toFixed(1))
      .join(" / "),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const skipped = await bench({
    report: ({ title: name, columns, rows }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n`,
      ),
  });
  if (skipped) process.stdout.write(`${skipped}\n`);
}
