import { describe, expect, it } from "vitest";
import { convertHtml } from "../src/page/convert/html.ts";
import { fetched, readMarkdown, site, webOf } from "./lab.ts";
import { FRAME_WORDS, framed, prose } from "./pages/write.ts";

it("an article is read with all its content, in order, and without what is around it", async () => {
  const content = `<main><article><h1>The old mill</h1><p class="byline">By Ada Writer</p><p>FIRST ${prose(5, 2)}</p>
<figure><img src="/mill.jpg" alt="The mill at dawn"><figcaption>CAPTION</figcaption></figure>
<h2>Its wheel</h2><p>SECOND ${prose(6, 3)} See <a href="/wheel">the wheel</a>.</p><blockquote><p>QUOTED ${prose(1, 4)}</p></blockquote>
<pre><code class="language-ts">turn({ speed: 3 }); // &lt; 10</code></pre>
<table><thead><tr><th>Name</th><th>Type</th></tr></thead><tbody><tr><td><code>speed</code></td><td>"a" | 3</td></tr></tbody></table>
<p>LAST ${prose(4, 5)}</p></article></main>`;
  const head = '<meta name="author" content="Ada Writer">';
  const text = await readMarkdown(framed("The old mill", content, { head }));
  const parts =
    '["The old mill" | text/html | ,FIRST,![The mill at dawn](,CAPTION,## Its wheel,SECOND,[the wheel](,> QUOTED,```ts\nturn({ speed: 3 }); // < 10\n```,| `speed` | "a" \\| 3 |,LAST';
  let at = 0;
  for (const part of parts.split(",")) {
    const index = text.indexOf(part, at);
    expect(index, `${part} after character ${at} of:\n${text}`).toBeGreaterThanOrEqual(0);
    at = index;
  }
  for (const word of [...FRAME_WORDS, "RELATED-ONE"]) expect(text).not.toContain(word);
});

describe("text that CSS hides", () => {
  const FRAMED = `<p>SHOWN ${prose(3, 5)}</p>`;
  it.each([
    '<p style="display: none">HIDDEN</p>',
    '<p style="visibility:hidden">HIDDEN</p>',
    '<p style="font-size:0">HIDDEN</p>',
    '<p style="font-size: 1px;">HIDDEN</p>',
    '<div style="height:0;overflow:hidden">HIDDEN</div>',
    '<p style="position:absolute; left:-9999px">HIDDEN</p>',
    '<p style="text-indent:-9999px">HIDDEN</p>',
    '<p style="opacity:0">HIDDEN</p>',
    '<p style="color: transparent">HIDDEN</p>',
    '<p style="color:#fff">HIDDEN</p>',
    '<style>.x{color:blue} .y, .z{display:none}</style><p class="z">HIDDEN</p>',
    "<p hidden>HIDDEN</p>",
    '<p style="color:#fefefe">HIDDEN</p>',
    '<p style="color:rgb(255 255 255)">HIDDEN</p>',
    '<p><font color="white">HIDDEN</font></p>',
    '<p style="color:rgba(0,0,0,0)">HIDDEN</p>',
    '<p style="color:#00000000">HIDDEN</p>',
    '<p style="opacity:.01">HIDDEN</p>',
    '<p style="opacity:1%">HIDDEN</p>',
    '<div style="max-height:0;overflow:clip">HIDDEN</div>',
    "<p aria-hidden=true>HIDDEN</p>",
  ])("%s is omitted", async (hidden) => {
    const text = await readMarkdown(`<main>${hidden}${FRAMED}</main>`);
    expect(text).toContain("SHOWN");
    expect(text).not.toContain("HIDDEN");
  });

  it.each([
    ["a rule for print", "<style>@media print{.x{display:none}}</style><p class=x>KEPT</p>"],
    [
      "a rule that hides most of the page",
      `<style>.x{display:none}</style><div class=x>KEPT ${prose(9, 6)}</div>`,
    ],
    ["what fades in", '<p style="opacity:0;transform:none">KEPT</p>'],
    ["white on a color", '<div style="background:#000"><p style="color:#fff">KEPT</p></div>'],
    [
      "letters that show their background",
      '<p style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">KEPT</p>',
    ],
    ["a collapsed part", "<details><summary>More</summary><p>KEPT</p></details>"],
  ])("%s hides nothing", async (_what, html) => {
    expect(await readMarkdown(`<main>${html}${FRAMED}</main>`)).toContain("KEPT");
  });
});

it.each(['style="visibility:hidden"', "hidden", 'aria-hidden="true"'])(
  "a page that is hidden by %s until a script shows it is read, without its hidden parts",
  async (how) => {
    const hidden =
      '<p style="display:none">HIDDEN</p><p hidden>HIDDEN</p><p aria-hidden=true>HIDDEN</p>';
    const dialog = `<div aria-hidden=true>HIDDEN ${prose(3, 2)}</div>`;
    const text = await readMarkdown(
      `<div ${how}><main><p>KEPT ${prose(9, 7)}</p>${hidden}</main></div>${dialog}<p>Wait.</p>`,
    );
    expect(text).toContain("KEPT");
    expect(text).not.toContain("HIDDEN");
    expect(text).toContain("includes text that the page hides");
    const markdown = await readMarkdown(`<main><p>${prose(9, 7)}</p>${hidden}</main>`);
    expect(markdown).not.toContain("HIDDEN");
    expect(markdown).not.toContain("includes text that the page hides");
  },
);

describe("content without a Markdown equivalent", () => {
  it.each<[string, string, string]>([
    ["a heading cell outside a table", "<div><th>CELL</th></div>", "CELL"],
    ["a definition list", "<dl><dt>Mill</dt><dd>grinds</dd></dl>", "**Mill**\n\ngrinds"],
    ["details", "<details><summary>More</summary><p>text</p></details>", "**More**\n\ntext"],
    [
      "a task list",
      '<ul><li><input type="checkbox" checked> a</li><li><input type="checkbox"> b</li></ul>',
      "- [x] a\n- [ ] b",
    ],
    ["marks", "<p><mark>a</mark> <u>b</u> 10<sup>2</sup> H<sub>2</sub>O</p>", "a b 10² H2O"],
    [
      "a picture in its address",
      '<p><img alt="mill" src="data:image/png;base64,AAAABBBB"> text</p>',
      "mill text",
    ],
    [
      "a card that is a link",
      '<a href="/c"><h3>Card</h3><p>about</p></a>',
      "### [Card](https://mill.example/c)\n\nabout",
    ],
  ])("%s is readable", async (_what, html, expected) => {
    const text = await readMarkdown(`<body>${html}</body>`);
    expect(text).toContain(expected);
    expect(text).not.toMatch(/<(?!https?:)|base64/);
  });
});

/** One function, as different highlighters mark it up. */
const CODE = "def f():\n    # why\n\n    if a < b:\n        return  a";
const HIGHLIGHTED: Readonly<Record<string, string>> = {
  Pygments:
    '<div class="highlight"><pre><span></span><span class="k">def</span> <span class="nf">f</span><span class="p">():</span>\n<span class="w">    </span><span class="c1"># why</span>\n\n<span class="w">    </span><span class="k">if</span> <span class="n">a</span> <span class="o">&lt;</span> <span class="n">b</span><span class="p">:</span>\n        <span class="k">return</span><span class="w">  </span><span class="n">a</span>\n</pre></div>',
  "Shiki, a line break after each line":
    '<pre class="shiki"><code><span class="line"><span>def</span><span> f():</span></span>\n<span class="line"><span>    </span><span># why</span></span>\n<span class="line"></span>\n<span class="line"><span>    </span><span>if a &lt; b:</span></span>\n<span class="line"><span>        </span><span>return</span><span>  </span><span>a</span></span></code></pre>',
  "Prism in React, br in each line":
    '<pre><code><span class="token-line">def f():<br></span><span class="token-line"><span>    </span><span># why</span><br></span><span class="token-line"><br></span><span class="token-line">    if a &lt; b:<br></span><span class="token-line">        return  a<br></span></code></pre>',
  "an editor, a div for each line":
    "<pre><code><div>def f():</div><div>    # why</div><div></div><div>    if a &lt; b:</div><div>        return  a</div></code></pre>",
};

describe("highlighted code keeps every line and space", () => {
  it.each(Object.entries(HIGHLIGHTED))("%s", async (_what, html) => {
    const page = `<main><article><h1>Code</h1><p>${prose(6, 30)}</p>${html}<p>${prose(6, 31)}</p></article></main>`;
    const code = `\n${CODE}\n\`\`\`\n`;
    expect(await readMarkdown(page)).toContain(code);
    expect(`${await readMarkdown(page, { selector: "pre" })}\n`).toContain(code);
  });

  it("in a quote, in a list, and in a sentence", async () => {
    const html = `<main><p>${prose(6, 32)} Call <code><span>new</span><span> </span><span>Map</span></code>.</p><blockquote><pre>\n  a\n    b\n </pre></blockquote><ul><li>One:<pre><span>c</span>\n<span>  </span><span>d</span></pre></li></ul></main>`;
    const text = await readMarkdown(html);
    expect(text).toContain("Call `new Map`.");
    expect(text).toContain("> ```\n>   a\n>     b\n> ```");
    expect(text).toContain("  ```\n  c\n    d\n  ```");
  });
});

it("content is found in script targets, in noscript, and after a CDATA section", async () => {
  const text = prose(6, 7);
  expect(
    await readMarkdown(
      `<main><template id="B:0"></template></main><div hidden id="S:0"><p>${text}</p></div>`,
    ),
  ).toContain(text.slice(0, 60));
  const fallback = `<div id="app"></div><script>x()</script><noscript><p>${text}</p></noscript>`;
  expect(await readMarkdown(fallback)).toContain(text.slice(0, 60));
  expect(await readMarkdown(`<body><![CDATA[<p>${text}</p></body>`)).toContain(text.slice(0, 60));
});

it("an article is extracted from a page that is mostly something else, a list is kept in full", async () => {
  const comments = Array.from(
    { length: 30 },
    (_, index) => `<div class="c"><p>COMMENT ${prose(2, index)}</p></div>`,
  );
  const article = `<div class="post"><p>ARTICLE ${prose(5, 90)}</p><p>${prose(5, 91)}</p></div>`;
  const declared = '<meta property="og:type" content="article">';
  const page = `<head>${declared}</head><body>${article}<div id="comments">${comments.join("")}</div></body>`;
  expect(await readMarkdown(page)).not.toContain("COMMENT");
  const cards = Array.from(
    { length: 12 },
    (_, index) => `<li><a href="/${index}">ITEM ${index}</a><p>${prose(1, index)}</p></li>`,
  );
  const list = await readMarkdown(
    `<main><section><p>${prose(3, 92)}</p></section><ul>${cards.join("")}</ul></main>`,
  );
  expect(list).toContain("ITEM 0");
  expect(list).toContain("ITEM 11");
});

it("a cookie set by a redirect is sent back within the call, only to its host", async () => {
  const other = await site(
    { "/": (request, response) => response.end(`other got ${request.headers.cookie}`) },
    { address: "127.0.0.1" },
  );
  const lab = await site({
    "/": (request, response) =>
      request.headers.cookie === "consent=yes"
        ? response.end("<p>welcome</p>")
        : response.writeHead(302, { location: "/consent" }).end(),
    "/consent": { status: 302, headers: { location: "/", "set-cookie": "consent=yes; Path=/" } },
    "/away": {
      status: 302,
      headers: { location: `${other.origin}/`, "set-cookie": "secret=1; Path=/" },
    },
  });
  const web = await webOf([lab, other]);
  expect((await fetched(web, { url: lab.origin })).text).toContain("welcome");
  expect((await fetched(web, { url: `${lab.origin}/away` })).text).toContain("other got undefined");
  // A new call begins without cookies.
  await fetched(web, { url: lab.origin, max_age: 0 });
  expect(lab.asked.filter((path) => path === "/consent")).toHaveLength(2);
});

const MENU = `<nav>${"<a href=/x>Another department</a> ".repeat(100)}</nav>`;
const convert = (html: string) =>
  convertHtml({ html, url: "https://example.org/", includeLinks: false });

it("a large menu is left out of a page with little content", () => {
  const { text, extractor } = convert(
    `${MENU}<div>${"<b>Wool shoe</b> in grey, 90 dollars. ".repeat(8)}</div>`,
  );
  expect(text).toContain("in grey");
  expect(text).not.toContain("department");
  expect(extractor).toBe("page without navigation");
});
