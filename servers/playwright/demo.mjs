import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { browserVariables, ensureBrowser, NoBrowser } from "./test/browser.mjs";

export const title = "tests a web page in a real browser, with a verdict and a screenshot.";

/** The page under test: it takes orders, and throws for more than nine. */
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

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ root, say, announce, skip, check, connect }) {
  const site = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(SHOP);
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (site.address());
  const url = `http://127.0.0.1:${port}/`;
  try {
    await ensureBrowser({ say: announce }).catch((error) => {
      if (error instanceof NoBrowser) skip(error.message);
      throw error;
    });
    // Kept after the demo, so that you can look at the screenshots.
    const args = ["--output-dir", join(root, "node_modules", ".cache", "refmcp-start")];
    const server = await connect("playwright", { era: "modern", args, env: browserVariables() });

    say(
      "A shop runs on this machine. What is on its page? The targets can be used in steps and assertions.",
    );
    await server.call("pw_inspect_page", { url }, { title: "Lamps", targets: includesOrderButton });

    say("One call tests it: steps, assertions, a verdict and a screenshot.");
    /** @param {number} count */
    const order = (count) => [`fill label 'How many?' with '${count}'`, "click button 'Order'"];
    await server.call(
      "pw_run_test",
      {
        url,
        steps: order(3),
        assertions: [
          "status is '3 ordered, 147.00 €'",
          "no console errors",
          "no serious a11y violations",
        ],
      },
      { passed: true },
    );

    say(
      "A failed assertion is a result: it reports the actual value, and the error that the page threw.",
    );
    const { structuredContent } = await server.call(
      "pw_run_test",
      {
        url,
        steps: order(10),
        assertions: ["status contains '441.00' within 1s", "no page errors"],
      },
      {
        passed: false,
        assertions: [
          { passed: false, actual: /490\.00/ },
          { passed: false, actual: /no discount for 10/ },
        ],
      },
    );
    /** @type {string[]} */
    const artifacts = structuredContent.artifacts;
    const picture = artifacts.find((uri) => uri.endsWith(".png"));
    check("the screenshot is a file", picture !== undefined && existsSync(new URL(picture)));
    say(`The screenshot: ${picture}`);

    say("Typos are reported before a browser starts, and only web pages can be opened.");
    await server.call(
      "pw_run_test",
      { url, assertions: ["buton 'Order' is visible"] },
      { fails: /buton 'Order' is visible[\s\S]*\^ expected/ },
    );
    const file = "view-source:file:///etc/passwd";
    await server.call("pw_inspect_page", { url: file }, { fails: /view-source:.* not allowed/ });
    await server.close();
  } finally {
    site.closeAllConnections();
    site.close();
  }
}

/** @param {string[]} targets */
function includesOrderButton(targets) {
  return targets.includes("button 'Order'");
}
