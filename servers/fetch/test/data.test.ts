import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { failureOf, fetched, run, site, sized, webOf } from "./lab.ts";
import { prose } from "./pages/write.ts";

const ld = (value: unknown) =>
  `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
const KETTLE = {
  "@context": "https://schema.org",
  "@graph": [
    {
      "@type": "WebSite",
      name: "Shop",
      potentialAction: { "@type": "SearchAction", target: "https://x.example/?q={q}" },
    },
    {
      "@type": "Product",
      name: "Blue kettle",
      brand: { "@type": "Brand", name: "Tarn" },
      image: { "@type": "ImageObject", url: "https://x.example/k.png" },
      description: "<p>Boils &amp; whistles.</p>",
      offers: {
        "@type": "Offer",
        price: 39.9,
        priceCurrency: "EUR",
        availability: "https://schema.org/InStock",
      },
      aggregateRating: { "@type": "AggregateRating", ratingValue: "4.5", reviewCount: 120 },
      seller: { "@id": "#tarn" },
    },
    { "@type": "Organization", "@id": "#tarn", name: "Tarn Ltd" },
  ],
};
const xml = (body: string, type = "application/xml") => ({
  headers: { "content-type": type },
  body,
});

/** The text of a page without its first two lines. */
async function textOf(pages: Parameters<typeof site>[0], args: object = {}) {
  const lab = await site(pages);
  const web = await webOf([lab]);
  const { text, foot } = await fetched(web, { url: `${lab.origin}/`, ...args });
  const [, head = "", ...rest] = text.split("\n");
  return {
    head,
    text: rest.join("\n").replaceAll(lab.origin, "https://site.example").trim(),
    foot,
    lab,
    web,
  };
}

describe("format data of HTML", () => {
  it("has the JSON-LD unchanged, each object of a graph under its type and name", async () => {
    const { text, head } = await textOf(
      { "/": `<title>K</title>${ld(KETTLE)}<p>Kettle</p>` },
      { format: "data" },
    );
    expect(head).toContain("structured data");
    expect(text).toContain(
      `## Product: Blue kettle\n${JSON.stringify(KETTLE["@graph"][1])}\n\n## Organization: Tarn Ltd\n`,
    );
  });

  it("has a recipe's ingredients and steps", async () => {
    const recipe = {
      "@type": ["Recipe"],
      name: "Rye bread",
      recipeYield: "2",
      totalTime: "PT1H30M",
      recipeIngredient: ["500 g rye flour, sifted", "300 ml water", "salt"],
      recipeInstructions: [
        {
          "@type": "HowToSection",
          name: "Dough",
          itemListElement: [
            { "@type": "HowToStep", text: "Mix." },
            { "@type": "HowToStep", text: "Wait." },
          ],
        },
        {
          "@type": "HowToSection",
          name: "Oven",
          itemListElement: [{ "@type": "HowToStep", text: "Bake." }],
        },
      ],
    };
    const { text } = await textOf({ "/": ld(recipe) }, { format: "data" });
    for (const part of ["## Recipe: Rye bread", "500 g rye flour, sifted", "Mix.", "Dough"])
      expect(text).toContain(part);
  });

  it("has tables that section chooses, and start_index continues between rows", async () => {
    const rows = Array.from(
      { length: 40 },
      (_, index) => `<tr><td>Item ${index}</td><td>${index}</td></tr>`,
    );
    const page = {
      "/": `<p>Text</p><table><tr><th>What</th><th>Price</th></tr>${rows.join("")}</table>
<table><caption>Ways</caption><tr><th>From</th><th>To</th></tr><tr><td rowspan="2">A</td><td>B</td></tr><tr><td>C</td></tr></table>`,
    };
    const { text, web, lab } = await textOf(page, { format: "data" });
    expect(text).toContain("## Table 1\n\n| What | Price |\n| --- | --- |\n| Item 0 | 0 |\n");
    const ways = "## Table 2\n\nWays\n\n| From | To |\n| --- | --- |\n| A | B |\n|  | C |";
    const only = { url: `${lab.origin}/`, format: "data", section: "table 2" };
    expect((await fetched(web, only)).text).toContain(`\n\n${ways}`);
    const pieces: string[] = [];
    for (let start: number | undefined = 0; start !== undefined; ) {
      const asked = { url: `${lab.origin}/`, format: "data", max_length: 300, start_index: start };
      const piece = await fetched(web, asked);
      const mark = start === 0 ? "\n\n" : "\n";
      pieces.push(piece.text.slice(piece.text.indexOf(mark) + mark.length));
      const next = /start_index=(\d+)/.exec(piece.foot)?.[1];
      start = next === undefined ? undefined : Number(next);
      if (start !== undefined) expect(pieces.at(-1)).toMatch(/\n$/);
    }
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join("")).toBe(text);
  });

  it.each([
    ["a long script", `<script>window.${"STATE={".repeat(sized(200_000))}</script>`],
    [
      "nested JSON",
      `<script type="application/json">${"[".repeat(5_000)}1${"]".repeat(5_000)}</script>`,
    ],
    ["nested JSON-LD", ld(JSON.parse(`${'{"@type":"A","a":'.repeat(3_000)}1${"}".repeat(3_000)}`))],
    [
      "a wide table",
      `<table>${`<tr>${'<td colspan="1000" rowspan="1000">x</td><td>y</td>'.repeat(isLong ? 40 : 6)}</tr>`.repeat(isLong ? 40 : 6)}</table>`,
    ],
  ])("is converted within the limits if the page has %s", async (_name, part) => {
    const page = { "/": `<title>T</title>${part}<h1>Title</h1><p>NEEDLE</p>` };
    const { foot, head, lab, web } = await textOf(page, { format: "data", max_length: 100 });
    expect(head).toContain("structured data");
    expect(Number(/(?:of|All) ([\d,]+)/.exec(foot)?.[1]?.replaceAll(",", "") ?? 0)).toBeLessThan(
      3_000_000,
    );
    const whole = await fetched(web, { url: lab.origin, max_length: 900_000 });
    expect(whole.text).toContain("NEEDLE");
  });

  it("is refused for plain text, and leaves JSON unchanged", async () => {
    const lab = await site({
      "/t": { headers: { "content-type": "text/plain" }, body: "hello" },
      "/j": {
        headers: { "content-type": "application/json" },
        body: '{"a":[{"n":"x","v":1},{"n":"y","v":2}],"e":null}',
      },
    });
    const web = await webOf([lab]);
    expect(
      await failureOf(run(web, "fetch", { url: `${lab.origin}/t`, format: "data" })),
    ).toMatchObject({
      kind: "invalid",
      message: `format data works on HTML, JSON, feeds and sitemaps; ${lab.origin}/t is text/plain.`,
    });
    expect((await fetched(web, { url: `${lab.origin}/j`, format: "data" })).text).toContain(
      '\n\n{"a":[{"n":"x"',
    );
  });
});

const RSS = `<?xml version="1.0"?><!-- made --><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Mill news</title><link>/</link><image><title>Logo</title><link>/logo</link></image>
<item><title>Open &amp; free</title><link>/open</link><pubDate>Tue, 05 May 2026 10:00:00 GMT</pubDate><dc:creator>Ada</dc:creator><description><![CDATA[<p>The <b>mill</b> opens.</p>]]></description><category>mill</category><category>news</category></item>
<item><guid isPermaLink="false">x-1</guid><title>[Second]</title><enclosure url="/a.mp3" type="audio/mpeg"/><source url="/s"><title>Not this</title></source></item></channel></rss>`;
const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title><link rel="self" href="/feed"/><link href="/"/><entry><title type="html">A &lt;i&gt;note&lt;/i&gt;</title><link rel="edit" href="/edit"/><link href="/n/1"/><updated>2026-02-03T04:05:06Z</updated><published>2026-01-02T03:04:05Z</published><author><name>Grace</name><uri>https://g.example</uri></author><summary>Short.</summary></entry></feed>`;
const RDF = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>Old</title></channel><item rdf:about="/1"><title>One</title><link>/1</link></item></rdf:RDF>`;

describe("feeds and sitemaps", () => {
  it.each([
    [
      "RSS",
      xml(RSS, "application/rss+xml"),
      "feed, 2 items",
      "# Mill news\n\n- [Open & free](https://site.example/open) (2026-05-05, Ada): The mill opens.\n- [Second]",
    ],
    [
      "Atom",
      xml(ATOM, "text/xml"),
      "feed, 1 item",
      "# Notes\n\n- [A note](https://site.example/n/1) (2026-01-02, Grace): Short.",
    ],
    ["RSS 1.0", xml(RDF), "feed, 1 item", "# Old\n\n- [One](https://site.example/1)"],
    [
      "JSON Feed",
      xml(
        '{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"id":"1","url":"/j","title":"One","date_published":"2026-01-02T03:04:05Z","authors":[{"name":"Alan"}],"content_html":"<p>Text</p>"}]}',
        "application/feed+json",
      ),
      "feed, 1 item",
      "# J\n\n- [One](https://site.example/j) (2026-01-02, Alan): Text",
    ],
    [
      "a sitemap",
      xml(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/1?a=1&amp;b=2</loc><lastmod>2026-05-01</lastmod><priority>0.5</priority></url><url><loc>https://a.example/2</loc></url></urlset>',
      ),
      "sitemap, 2 URLs",
      "https://a.example/1?a=1&b=2 2026-05-01\nhttps://a.example/2",
    ],
    [
      "a packed index of sitemaps",
      {
        headers: { "content-type": "application/gzip" },
        body: gzipSync(
          "<sitemapindex><sitemap><loc>https://a.example/s1.xml.gz</loc></sitemap></sitemapindex>",
        ),
      },
      "sitemap index, 1 sitemap",
      "https://a.example/s1.xml.gz",
    ],
  ])("%s is a list", async (_name, answer, extractor, expected) => {
    const { head, text } = await textOf({ "/": answer });
    expect(head).toContain(`| ${extractor}]`);
    expect(text).toContain(expected);
  });

  it("have every field with format data, and their source with raw", async () => {
    const { text } = await textOf({ "/": xml(RSS) }, { format: "data" });
    expect(text).toContain('"categories":"mill, news"');
    expect(text).toContain('"media":"https://site.example/a.mp3"');
    expect(text).not.toMatch(/Not this|Logo|x-1/);
    expect((await textOf({ "/": xml(RSS) }, { raw: true })).text).toContain("<rss version");
  });

  it("are a fraction of their XML", async () => {
    const items = Array.from(
      { length: 50 },
      (_, index) =>
        `<item><title>Post ${index}</title><link>https://blog.example/${index}</link><guid>https://blog.example/${index}</guid><pubDate>Tue, 05 May 2026 10:00:00 GMT</pubDate><description><![CDATA[<p>${prose(5, index)}</p>]]></description><content:encoded><![CDATA[<p>${prose(30, index)}</p>]]></content:encoded></item>`,
    );
    const body = `<rss version="2.0"><channel><title>B</title>${items.join("")}</channel></rss>`;
    const { foot } = await textOf({ "/": xml(body) });
    expect(Number(/of ([\d,]+)/.exec(foot)?.[1]?.replaceAll(",", ""))).toBeLessThan(
      body.length / 4,
    );
  });

  it("of hostile depth, size or entities are read within the limits, other XML unchanged", async () => {
    const deep = `<rss>${"<item>".repeat(30_000)}<title>x</title>`;
    expect((await textOf({ "/": xml(deep) })).head).toContain("not converted: it is too complex");
    const entities =
      '<!DOCTYPE rss [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><rss><channel><item><title>&b;</title></item></channel></rss>';
    expect((await textOf({ "/": xml(entities) })).text).not.toContain("lollol");
    const comments = `${"<!---->".repeat(500)}<x/>`;
    expect((await textOf({ "/": xml(comments) })).text).toContain("<x/>");
    expect((await textOf({ "/": xml("<note><to>Ada</to></note>") })).text).toContain(
      "<to>Ada</to>",
    );
    const bomb = gzipSync(Buffer.alloc(40_000_000, "a"));
    const { head, foot } = await textOf(
      { "/": { headers: { "content-type": "application/gzip" }, body: bomb } },
      { max_length: 10 },
    );
    expect(head).toContain("only its first");
    expect(foot).toContain("of 10,000,000");
  });
});
