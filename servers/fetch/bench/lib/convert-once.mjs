// Runs one pipeline on one page several times, and prints the best CPU time in ms and the peak memory in MB.
// node convert-once.mjs here|jsdom FILE RUNS MODULES
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

const [pipeline, file = "", runs, modules = ""] = process.argv.slice(2);
const html = await readFile(file, "utf8");
const url = "https://mill.example/page";

async function here() {
  const worker = new Worker(new URL("../../dist/convert.worker.js", import.meta.url));
  return {
    convert: () =>
      new Promise((/** @type {(text: string) => void} */ resolve, reject) => {
        worker.once("message", ({ done, failed }) =>
          done === undefined ? reject(new Error(failed)) : resolve(done.text),
        );
        worker.postMessage({ html: { html, url, includeLinks: true } });
      }),
    close: () => worker.terminate(),
  };
}

function jsdom() {
  const require = createRequire(join(modules, "anchor.js"));
  // Only the folder of the peers has them.
  const { JSDOM } = require(/** @type {string} */ ("jsdom"));
  const { Readability } = require(/** @type {string} */ ("@mozilla/readability"));
  const Turndown = require(/** @type {string} */ ("turndown"));
  return {
    convert: async () => {
      const { document } = new JSDOM(html, { url }).window;
      return new Turndown({ headingStyle: "atx" }).turndown(
        new Readability(document).parse().content,
      );
    },
    close: () => undefined,
  };
}

const { convert, close } = await (pipeline === "here" ? here() : jsdom());
let best = Number.POSITIVE_INFINITY;
for (let run = 0; run < Number(runs); run++) {
  const before = process.cpuUsage();
  const text = await convert();
  const { user, system } = process.cpuUsage(before);
  best = Math.min(best, (user + system) / 1_000);
  if (!text.includes("number 0")) throw new Error("the page's text is not there");
}
await close();
process.stdout.write(JSON.stringify({ ms: best, mb: process.resourceUsage().maxRSS / 1_024 }));
