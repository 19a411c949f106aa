// Pages whose content was annotated by a person or another project.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/**
 * @typedef {object} AnnotatedPage
 * @property {string} url
 * @property {string} html
 * @property {string} [expected] the content, as plain text
 * @property {string} [expectedHtml] the content, as HTML
 * @property {string} type what kind of page it is, "article" where the corpus has only those
 */

/**
 * Readability's own test pages: one folder for each, with `source.html` and `expected.html`.
 *
 * @type {(folder: string) => AsyncGenerator<AnnotatedPage>}
 */
export async function* readabilityPages(folder) {
  for (const name of (await readdir(folder)).sort()) {
    /** @param {string} file */
    const text = (file) => readFile(join(folder, name, file), "utf8");
    yield {
      url: "http://fakehost/test/page.html",
      html: await text("source.html"),
      expectedHtml: await text("expected.html"),
      type: "article",
    };
  }
}

/**
 * scrapinghub/article-extraction-benchmark: `html/*.html.gz` and `ground-truth.json`.
 *
 * @type {(folder: string) => AsyncGenerator<AnnotatedPage>}
 */
export async function* articles(folder) {
  /** @type {Record<string, { url?: string, articleBody?: string }>} */
  const truth = JSON.parse(await readFile(join(folder, "ground-truth.json"), "utf8"));
  for (const [id, { url, articleBody }] of Object.entries(truth))
    yield {
      url: url ?? "https://example.org/",
      html: gunzipSync(await readFile(join(folder, "html", `${id}.html.gz`))).toString("utf8"),
      expected: articleBody ?? "",
      type: "article",
    };
}

/**
 * WCXB (Murrough-Foley/web-content-extraction-benchmark): pages of seven types, a set to tune on and one held out.
 *
 * @type {(folder: string, split: string) => AsyncGenerator<AnnotatedPage>}
 */
export async function* pagesOfAllTypes(folder, split) {
  const truths = join(folder, split, "ground-truth");
  for (const name of (await readdir(truths)).sort()) {
    const { url, ground_truth, _internal } = JSON.parse(await readFile(join(truths, name), "utf8"));
    const type = _internal?.page_type?.primary ?? "article";
    const file = join(folder, split, "html", name.replace(/\.json$/, ".html.gz"));
    yield {
      url,
      html: gunzipSync(await readFile(file)).toString("utf8"),
      expected: ground_truth?.main_content ?? "",
      type: type === "category" ? "collection" : type,
    };
  }
}
