import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";

const xml = (body: string, type = "application/xml") => ({
  headers: { "content-type": type },
  body,
});

/** The line of facts and the text of a page. */
async function textOf(pages: Parameters<typeof site>[0], args: object = {}) {
  const lab = await site(pages);
  const { text } = await fetched(await webOf([lab]), { url: `${lab.origin}/`, ...args });
  const [, head = "", ...rest] = text.replaceAll(lab.origin, "https://site.example").split("\n");
  return { head, text: rest.join("\n").trim() };
}

const RSS = `<?xml version="1.0"?><!-- made --><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Mill news</title><link>/</link><image><title>Logo</title><link>/logo</link></image>
<item><title>Open &amp; free</title><link>/open</link><pubDate>Tue, 05 May 2026 10:00:00 GMT</pubDate><dc:creator>Ada</dc:creator><description><![CDATA[<p>The <b>mill</b> opens.</p>]]></description><category>mill</category><category>news</category></item>
<item><guid isPermaLink="false">x-1</guid><title>[Second]</title><enclosure url="/a.mp3" type="audio/mpeg"/><source url="/s"><title>Not this</title></source></item></channel></rss>`;
const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title><link rel="self" href="/feed"/><link href="/"/><entry><title type="html">A &lt;i&gt;note&lt;/i&gt;</title><link rel="edit" href="/edit"/><link href="/n/1"/><updated>2026-02-03T04:05:06Z</updated><published>2026-01-02T03:04:05Z</published><author><name>Grace</name><uri>https://g.example</uri></author><summary>Short.</summary></entry></feed>`;

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
    [
      "a sitemap",
      xml(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a.example/1?a=1&amp;b=2</loc><lastmod>2026-05-01</lastmod><priority>0.5</priority></url><url><loc>https://a.example/2</loc></url></urlset>',
      ),
      "sitemap, 2 URLs",
      "https://a.example/1?a=1&b=2 2026-05-01\nhttps://a.example/2",
    ],
  ])("%s is a list", async (_name, answer, extractor, expected) => {
    const { head, text } = await textOf({ "/": answer });
    expect(head).toContain(`| ${extractor}]`);
    expect(text).toContain(expected);
  });

  it("have their source with raw", async () => {
    expect((await textOf({ "/": xml(RSS) })).text).not.toMatch(/Not this|Logo|x-1/);
    expect((await textOf({ "/": xml(RSS) }, { raw: true })).text).toContain("<rss version");
  });

  it("of hostile depth, size or entities are read within the limits, other XML unchanged", async () => {
    const deep = `<rss>${"<item>".repeat(30_000)}<title>x</title>`;
    expect((await textOf({ "/": xml(deep) })).head).toContain("feed");
    const entities =
      '<!DOCTYPE rss [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><rss><channel><item><title>&b;</title></item></channel></rss>';
    expect((await textOf({ "/": xml(entities) })).text).not.toContain("lollol");
    const comments = `${"<!---->".repeat(500)}<x/>`;
    expect((await textOf({ "/": xml(comments) })).text).toContain("<x/>");
    expect((await textOf({ "/": xml("<note><to>Ada</to></note>") })).text).toContain(
      "<to>Ada</to>",
    );
  });
});
