import { createServer } from "node:http";

export const title = "reads a page of a site that runs here, and refuses one that it must not reach.";

const part = (index) =>
  `<h2>Station ${index}</h2><p>At kilometre ${index * 3} the path crosses the river; the inn there has ${index + 2} rooms and a view of the valley.</p>`;
const PAGE = `<!doctype html><html lang="en"><head><title>The river path</title><meta name="date" content="2026-06-01"></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav><main><h1>The river path</h1><p>Thirty kilometres along the <a href="/river">river</a>, in two days.</p>
${Array.from({ length: 10 }, (_, index) => part(index + 1)).join("\n")}
</main><footer>Imprint, cookies, newsletter</footer><script>track()</script></body></html>`;

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ say, connect }) {
  const site = createServer((request, response) => {
    const isPage = request.url === "/path";
    response.writeHead(isPage ? 200 : 404, { "content-type": "text/html" }).end(isPage ? PAGE : "");
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${site.address().port}`;
  try {
    say(
      "A page with menu, footer and script, on this machine; the user allowed its host. First its beginning:",
    );
    const fetch = await connect("fetch", { era: "modern", args: ["--allow-host", host] });
    const url = `http://${host}/path`;
    await fetch.call("fetch", { url, max_length: 320 });
    say("Instead of reading on: words, and one section. All of it comes from one download.");
    await fetch.call("fetch_find", { url, query: "9 rooms", context: 40 });
    await fetch.call("fetch", { url, section: "Station 10" });
    say("What was not allowed is not reached, in no spelling: this is the machine's own address again.");
    await fetch.call("fetch", { url: "http://0x7f.1:22/" });
    await fetch.close();
  } finally {
    site.closeAllConnections();
    site.close();
  }
}
