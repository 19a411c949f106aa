// Makes docs/run.png, the picture in the README: a real call of pw_run_test, its answer and its screenshot. After a build:
// node servers/playwright/docs/picture.mjs
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { listen, RawClient } from "../../../scripts/lib/bench-kit.mjs";
import { SHOP } from "../demo.mjs";
import { ensureBrowser } from "../test/browser.mjs";

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
/** @param {string} text */
const safe = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const { executablePath } = await ensureBrowser();
const { env } = process;
const folder = await mkdtemp(join(tmpdir(), "refmcp-picture-"));
const site = createServer((_, response) =>
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(SHOP),
);
const url = `http://127.0.0.1:${await listen(site)}/`;
/** @param {string} text */
const portable = (text) => text.replaceAll(url, "http://localhost:3000/");

const client = new RawClient(
  [
    process.execPath,
    here("../dist/bin.js"),
    "--executable-path",
    executablePath,
    "--output-dir",
    folder,
  ],
  { env },
);
await client.initialize();
const call = {
  url,
  devices: ["640x480"],
  steps: ["fill label 'How many?' with '10'", "click button 'Order'"],
  assertions: ["status contains '490.00 €'", "no a11y violations", "no page errors"],
};
// A first run starts the browser, so that the second shows the normal duration.
await client.call("pw_run_test", call);
const { content, structuredContent } = await client.call("pw_run_test", call);
const screenshot = await readFile(join(folder, structuredContent["run_id"], "home.png"));
await client.close();
site.close();

const [verdict = ""] = content[0]?.text.split("\n") ?? [];
/** @type {{ name: string, passed: boolean, actual: string }[]} */
const assertions = structuredContent["assertions"];
const { artifacts, durationMs } = structuredContent;
const checks = assertions
  .map(({ name, passed, actual }) =>
    passed
      ? `<p><b class="ok">✓</b> ${safe(name)}</p>`
      : `<p class="bad"><b>✗</b> ${safe(name)}<br><small>${safe(actual)}</small></p>`,
  )
  .join("");
const page = `<!doctype html><meta charset="utf-8"><style>
  body { margin: 0; padding: 24px; background: #f3f4f6; font: 15px/1.45 system-ui, sans-serif; color: #1f2937 }
  main { display: grid; grid-template-columns: 470px 1fr; gap: 24px }
  pre, section { background: #fff; border: 1px solid #d1d5db; border-radius: 8px; padding: 14px 18px; margin: 0 }
  pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap } h2 { font-size: 13px; margin: 0 0 6px; color: #6b7280 }
  p { margin: 6px 0 } .ok { color: #15803d } .bad { color: #b91c1c } .bad small { color: #1f2937; margin-left: 20px }
  img { width: 100%; border: 1px solid #d1d5db; border-radius: 8px; display: block } div > div + div { margin-top: 18px } main > div + div { margin-top: 0 }
</style><main><div><div><h2>pw_run_test</h2><pre>${safe(portable(JSON.stringify(call, undefined, 2)))}</pre></div>
<div><h2>The answer, after ${durationMs} ms</h2><section><p><b>${safe(verdict)}</b></p>${checks}</section></div></div>
<div><h2>${artifacts[0]?.split("/").at(-1)}</h2><img src="data:image/png;base64,${screenshot.toString("base64")}"></div></main>`;
await writeFile(join(folder, "page.html"), page);

const browser = await chromium.launch({
  executablePath,
  env,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
const tab = await browser.newPage({ viewport: { width: 1000, height: 300 } });
await tab.goto(`file://${join(folder, "page.html")}`);
await tab.screenshot({ path: here("run.png"), fullPage: true });
await browser.close();
await rm(folder, { recursive: true, force: true });
