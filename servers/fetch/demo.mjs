import { once } from "node:events";
import { createServer } from "node:http";

export const title = "reads a web page, and refuses an address that it may not reach.";

/** @param {number} index */
const part = (index) =>
  `<h2>Station ${index}</h2><p>At kilometre ${index * 3} the path crosses the river; the inn there has ${index + 2} rooms and a view of the valley.</p>`;
const PAGE = `<!doctype html><html lang="en"><head><title>The river path</title><meta name="date" content="2026-06-01"></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav><main><h1>The river path</h1><p>Thirty kilometres along the <a href="/river">river</a>, in two days.</p>
${Array.from({ length: 10 }, (_, index) => part(index + 1)).join("\n")}
</main><footer>Imprint, cookies, newsletter</footer><script>track()</script></body></html>`;

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ say, check, connect }) {
  let visits = 0;
  const site = createServer((request, response) => {
    const isPage = request.url === "/path";
    if (isPage) visits += 1;
    response.writeHead(isPage ? 200 : 404, { "content-type": "text/html" }).end(isPage ? PAGE : "");
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (site.address());
  const host = `127.0.0.1:${port}`;
  try {
    say(
      "A page with a menu, a footer and a script, served by this machine; the user allowed its host.",
    );
    const fetch = await connect("fetch", { era: "modern", args: ["--allow-host", host] });
    const url = `http://${host}/path`;
    await fetch.call(
      "fetch",
      { url, max_length: 320 },
      /# The river path\n[\s\S]*Station 1\n(?![\s\S]*Imprint)/,
    );
    say("Search the page or read one section, without another download.");
    await fetch.call(
      "fetch_find",
      { url, query: "9 rooms", context: 40 },
      { matches: 1, places: [{ section: "Station 7", text: /9 rooms/ }] },
    );
    await fetch.call(
      "fetch",
      { url, section: "Station 10" },
      /Station 10\n\nAt kilometre 30 .*12 rooms/,
    );
    say("Ask a question about the page: the best passages with their places.");
    await fetch.call(
      "fetch_many",
      { urls: [url], question: "Which inn is at kilometre 21?", max_length: 300 },
      /^\[1\] http.*Station 7[\s\S]*9 rooms/,
    );
    const asked = visits;
    say(
      "Another port of this machine is blocked, even when its address is written in another way.",
    );
    await fetch.call(
      "fetch",
      { url: "http://0x7f.1:22/" },
      { fails: /127\.0\.0\.1[\s\S]*--allow-host/ },
    );
    check("one download for four calls", asked === 1);
    await fetch.close();
  } finally {
    site.closeAllConnections();
    site.close();
  }
}
