// A peer's conversion from HTML to Markdown, in a thread: replies to each { html, url } with { markdown } or { failed }.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

const { pipeline, modules } = workerData;
const require = createRequire(join(modules, "anchor.js"));
// Only the folder of the peers has them.
const { JSDOM, VirtualConsole } = require(/** @type {string} */ ("jsdom"));
const Turndown = require(/** @type {string} */ ("turndown"));

/** @param {string} html @param {string} url */
const documentOf = (html, url) =>
  new JSDOM(html, { url, virtualConsole: new VirtualConsole() }).window.document;

/** @type {Record<string, (html: string, url: string) => unknown>} */
const PIPELINES = {
  readability(html, url) {
    const { Readability } = require(/** @type {string} */ ("@mozilla/readability"));
    const article = new Readability(documentOf(html, url)).parse();
    const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced" });
    turndown.use(require(/** @type {string} */ ("turndown-plugin-gfm")).gfm);
    return turndown.turndown(article?.content ?? "");
  },
  async defuddle(html, url) {
    // It exports this for `import` only.
    const { Defuddle } = await import(pathToFileURL(join(modules, "defuddle/dist/node.js")).href);
    const { content } = await Defuddle(documentOf(html, url), url, {
      markdown: true,
      useAsync: false,
    });
    return content;
  },
};

parentPort?.on("message", async ({ html, url }) => {
  try {
    parentPort?.postMessage({ markdown: await PIPELINES[pipeline]?.(html, url) });
  } catch (error) {
    parentPort?.postMessage({ failed: String(error) });
  }
});
