import { createHash } from "node:crypto";
import type { World } from "@refmcp/testing";
import { picture } from "./files.ts";
import { openSite } from "./lab.ts";
import { framed, prose } from "./pages/write.ts";

const SECRET = "hunter2-planted-secret";

const GUIDE = framed(
  "The mill guide",
  `<main><h1>The mill guide</h1><p>How to visit the mill. ${prose(3, 70)}</p>
<h2>Opening hours</h2><p>Open from Tuesday to Sunday, 10:00 to 17:00. Closed on Mondays and on 24 December.</p>
<h2>Prices</h2><table><tr><th>Who</th><th>Price</th></tr><tr><td>Adults</td><td>€ 7.50</td></tr><tr><td>Children</td><td>€ 3.00</td></tr></table>
<h2>How to come here</h2><p>Bus 14 stops at <a href="/stops">Mill Lane</a>. ${prose(4, 71)}</p>
<h2>Contact</h2><p>Write to <a href="mailto:mill@example.org">mill@example.org</a>.</p></main>`,
  {
    head: '<meta name="description" content="Hours, prices and ways to the old mill."><meta name="date" content="2026-03-01">',
  },
);

const NEWS = `<rss version="2.0"><channel><title>Mill news</title>
<item><title>The wheel turns again</title><link>/wheel</link><pubDate>Tue, 05 May 2026 10:00:00 GMT</pubDate><description>After two years of repairs.</description></item>
<item><title>Bread on Fridays</title><link>/bread</link><pubDate>Fri, 01 May 2026 10:00:00 GMT</pubDate></item></channel></rss>`;

/** A page of a thread with three. */
function thread(page: number): string {
  const links = [1, 2, 3]
    .map((number) => `<a href="/thread?page=${number}">${number}</a>`)
    .join(" ");
  return `<title>Thread</title><h1>Which bus?</h1><p>Post ${page}: take bus ${page + 12}.</p><p>${links}</p>`;
}

/**
 * A small site on loopback that represents the web, one site that must not be reached, and a secret header.
 */
export async function world(): Promise<World> {
  const inner = await openSite({ "/": `<p>${SECRET}</p>` }, { address: "127.0.0.1" });
  const site = await openSite({
    "/guide": GUIDE,
    "/stops":
      "<title>Stops</title><h1>Stops</h1><ul><li>Mill Lane: bus 14, every 20 minutes</li><li>Old Bridge: bus 9</li></ul>",
    "/old-guide": { status: 301, headers: { location: "/guide" } },
    "/long": framed(
      "A long page",
      `<main>${Array.from({ length: 400 }, (_, index) => `<h2>Part ${index}</h2><p>${prose(5, index + 100)}</p>`).join("")}</main>`,
    ),
    "/shop": `<title>Shop</title><h1>Blue kettle</h1><p>€ 39.90, in stock</p>
<table><caption>Delivery</caption><tr><th>To</th><th>Days</th></tr><tr><td>Bremen</td><td>2</td></tr><tr><td>Oslo</td><td>6</td></tr></table>`,
    "/news.xml": { headers: { "content-type": "application/rss+xml" }, body: NEWS },
    ...Object.fromEntries(
      [1, 2, 3].map((page) => [page === 1 ? "/thread" : `/thread?page=${page}`, thread(page)]),
    ),
    "/hours.json": {
      headers: { "content-type": "application/json" },
      body: '{"monday":null,"tuesday":"10-17"}',
    },
    "/mill.png": { headers: { "content-type": "image/png" }, body: picture },
    "/inside": { status: 302, headers: { location: `${inner.origin}/` } },
    "/robots.txt": {
      headers: { "content-type": "text/plain" },
      body: "User-agent: *\nDisallow: /closed",
    },
    "/closed": "<p>not for programs</p>",
  });
  const url = (path: string): string => site.origin + path;
  return {
    args: ["--allow-host", site.host, "--header", `${site.host}=Authorization: Bearer ${SECRET}`],
    secret: SECRET,
    calls: {
      fetch: { url: url("/guide"), max_length: 600 },
      fetch_many: { urls: [url("/stops"), url("/nothing"), url("/hours.json")] },
      fetch_find: { url: url("/guide"), query: "closed", context: 60 },
    },
    failures: {
      fetch: { url: url("/inside") },
      fetch_many: { urls: [url("/closed"), `${inner.origin}/`] },
      fetch_find: { url: url("/nothing"), query: "x" },
    },
    large: {
      fetch: { url: url("/long"), max_length: 900_000 },
      fetch_many: { urls: [url("/long"), url("/guide")], max_length: 100_000 },
      fetch_find: { url: url("/long"), query: "river", limit: 100, context: 2_000 },
    },
    // The server only reads, so nothing else could change.
    fingerprint: async () =>
      createHash("sha256")
        .update(JSON.stringify([site.pages, inner.requests]))
        .digest("hex"),
    stable: (text) =>
      text
        .replaceAll(site.origin, "https://mill.example")
        .replaceAll(site.host, "mill.example")
        .replaceAll(inner.host, "127.0.0.1:80")
        .replace(/snapshot\/[0-9a-f]{12}/g, "snapshot/0123456789ab")
        .replace(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g, "2026-07-28T09:00:00.000Z"),
    async dispose() {
      await site.close();
      await inner.close();
    },
  };
}
