import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { bringBrowser } from "./test/browser.mjs";

export const title = "tests a page in a real browser: one call, a verdict and a screenshot.";

/** The page that is tested: it orders, and throws where more than nine are ordered. */
export const SHOP = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Lamps</title>
<style>body { font: 18px system-ui; margin: 3rem; max-width: 32rem } button, input { font: inherit; padding: .3rem .6rem }</style>
<main><h1>Lamps</h1><p>Desk lamp, 49.00 €</p>
<form><label>How many? <input type="number" name="count" value="1"></label> <button>Order</button></form>
<p role="status"></p></main>
<script>
  document.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const count = Number(new FormData(event.target).get("count"));
    document.querySelector("[role=status]").textContent = count + " ordered, " + (count * 49).toFixed(2) + " €";
    if (count > 9) throw new Error("no discount for " + count);
  };
</script>`;

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ folder, root, say, connect }) {
  const site = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(SHOP);
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const url = `http://127.0.0.1:${site.address().port}/`;
  try {
    // Kept when the scene is over, so that one can look at the screenshots.
    const args = ["--output-dir", join(root, "node_modules", ".cache", "refmcp-start")];
    const server = await withBrowser(connect, { args, folder, url, say });

    say(
      "A shop runs on this machine. What stands on its page? The targets are ready for steps and assertions.",
    );
    await server.call("pw_inspect_page", { url });

    say("One call tests it: steps, assertions, a verdict, a screenshot.");
    const order = (count) => [`fill label 'How many?' with '${count}'`, "click button 'Order'"];
    await server.call("pw_run_test", {
      url,
      steps: order(3),
      assertions: ["status is '3 ordered, 147.00 €'", "no console errors", "no serious a11y violations"],
    });

    say(
      "A check that fails is no error of the call: it says what was there instead, and what the page threw.",
    );
    const { structuredContent } = await server.call("pw_run_test", {
      url,
      steps: order(10),
      assertions: ["status contains '441.00' within 1s", "no page errors"],
    });
    const picture = structuredContent?.artifacts?.find((uri) => uri.endsWith(".png"));
    if (picture !== undefined) say(`The screenshot lies at ${picture}`);

    say("A slip is shown before a browser is touched; what is no web page is not opened.");
    await server.call("pw_run_test", { url, assertions: ["buton 'Order' is visible"] });
    await server.call("pw_inspect_page", { url: "view-source:file:///etc/passwd" });
    await server.close();
  } finally {
    site.closeAllConnections();
    site.close();
  }
}

/** A session with the browser that the server finds; where there is none, one is brought first. */
async function withBrowser(connect, { args, folder, url, say }) {
  const server = await connect("playwright", { era: "modern", args });
  const { isError } = await server.client.callTool({ name: "pw_run_test", arguments: { url, evidence: [] } });
  if (isError !== true) return server;
  await server.close();
  say("There is no browser here that starts, so the one of the tests is brought.");
  const { executablePath, env } = await bringBrowser({ say });
  return connect("playwright", {
    era: "modern",
    args: [...args, "--executable-path", await wrapped(executablePath, env, folder)],
  });
}

/** A program that needs an environment of its own, as one that sets it. */
async function wrapped(program, env, folder) {
  const settings = Object.entries(env).map(([name, value]) => `${name}='${value}' `);
  if (settings.length === 0) return program;
  const path = join(folder, "browser.sh");
  await writeFile(path, `#!/bin/sh\n${settings.join("")}exec '${program}' "$@"\n`, { mode: 0o755 });
  return path;
}
