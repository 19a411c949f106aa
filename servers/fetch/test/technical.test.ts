import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";
import { javadocPage, rustdocPage, sphinxPage } from "./pages/technical.ts";
import { framed, prose } from "./pages/write.ts";
import { missingIn } from "./signatures.ts";

async function read(html: string): Promise<string> {
  const lab = await site({ "/page": html });
  return (await fetched(await webOf([lab]), { url: `${lab.origin}/page`, max_length: 500_000 })).text;
}

describe.each(Object.entries({ rustdoc: rustdocPage(), javadoc: javadocPage(), Sphinx: sphinxPage() }))(
  "a page by %s",
  (_generator, { html, signatures }) => {
    it("has all its signatures and headings, in order, and no menu", async () => {
      const text = await read(html);
      expect(missingIn(text, signatures)).toEqual([]);
      expect(text).not.toMatch(/SIDEBAR|<br>/);
    });
  },
);

/** A page of documentation around a part. */
const documented = (part: string): string =>
  framed("The mill", `<main>${part}<p>${prose(6, 1)}</p><pre>one</pre><pre>two</pre><pre>three</pre></main>`);

describe("markup of documentation", () => {
  it.each([
    [
      "a class of `pre`",
      '<pre class="rust example"><span>let</span> a = 1;</pre>',
      "```rust\nlet a = 1;\n```",
    ],
    [
      "a highlighter's element",
      '<div class="highlight-python3 notranslate"><div class="highlight"><pre>if a:\n<span class="w">    </span>b()</pre></div></div>',
      "```python\nif a:\n    b()\n```",
    ],
    ["no language", '<div class="highlight-default"><pre>plain here</pre></div>', "```\nplain here\n```"],
    [
      "lines as elements",
      '<div class="fragment"><div class="line"><span class="lineno">  1</span>int a;</div><div class="line">  int b;</div></div>',
      "```\nint a;\n  int b;\n```",
    ],
  ])("code with %s", async (_what, code, expected) => {
    expect(await read(documented(code))).toContain(expected);
  });

  it("permalinks, run links and endless URLs are left out, and links within the page are text", async () => {
    const endless = `https://play.example/?code=${"x".repeat(400)}`;
    const text = await read(
      documented(
        `<h2>Turning<a href="#turning" title="Permalink">¶</a></h2><p>See <a href="#grain">grain</a> and <a href="${endless}">the state</a>.</p>` +
          `<pre>mill</pre><a href="${endless}">Run</a><a href="https://play.example/?code=fn%20main()%7B%7D">Run</a><p><a href="/wheel" title="The wheel">The wheel</a></p>`,
      ),
    );
    expect(text).toContain("## Turning\n");
    expect(text).toContain("See grain and the state.");
    expect(text).toMatch(/\[The wheel\]\([^ ]*\/wheel\)/);
    expect(text).not.toMatch(/¶|xxxx|\bRun\b/);
  });

  it("code has no links in it, but may be the text of one", async () => {
    const text = await read(
      documented(
        '<p><code><a href="/K">Key</a>&lt;<a href="/V">Val</a>&gt;</code> and <code><a href="/W">Wheel</a></code>.</p>',
      ),
    );
    expect(text).toContain("`Key<Val>`");
    expect(text).toMatch(/\[`Wheel`\]\([^ ]*\/W\)/);
  });

  it("a grid with a header is a table, and headings in a list are headings", async () => {
    const cell = (kind: string, text: string) => `<div class="${kind}">${text}</div>`;
    const grid = [
      ...["Method", "Description"].map((text) => cell("table-header", text)),
      ...["turn()", "Turns the wheel.", "stop()", "Stops it."].map((text) => cell("col", text)),
    ];
    const text = await read(
      documented(`<ul><li><h2>Methods</h2><div class="summary-table">${grid.join("")}</div></li></ul>`),
    );
    expect(text).toMatch(/^## Methods$/m);
    expect(text).toMatch(/^\| turn\(\) \| Turns the wheel\. \|$/m);
    expect(text).toMatch(/^\| stop\(\) \| Stops it\. \|$/m);
  });

  it("text such as <string> does not cost the page its Markdown", async () => {
    const words = Array.from({ length: 60 }, (_, index) => `&lt;value-${index}-of-the-mill&gt;`).join(" ");
    expect(await read(documented(`<h2>Usage</h2><pre>${words}</pre>`))).toMatch(/^## Usage$/m);
  });
});

/** Names of headings that Readability takes for something else than content. */
const NAMES = [
  "header",
  "code-header",
  "Documentation-functionHeader",
  "header-anchor-post",
  "section-header",
  "extra-info",
  "community-question",
  "comment-title",
  "menu-title",
  "related-work",
  "social",
  "sidebar-title",
];

describe.each([
  ["with such a class", (name: string, text: string) => `<h2 class="${name}">${text}</h2>`],
  ["with such an id", (name: string, text: string) => `<h2 id="${name}">${text}</h2>`],
  ["alone in such an element", (name: string, text: string) => `<div class="${name}"><h2>${text}</h2></div>`],
])("headings of prose, %s", (_where, heading) => {
  it("stay", async () => {
    const parts = NAMES.map((name, index) => `${heading(name, `Part ${index}.`)}<p>${prose(4, index)}</p>`);
    const text = await read(
      framed("The mill", `<div class="post"><p>${prose(5, 83)}</p>${parts.join("")}</div>`),
    );
    expect(NAMES.filter((_, index) => !text.includes(`## Part ${index}.`))).toEqual([]);
    expect(text).not.toContain("RELATED-ONE");
  });
});

it("an article of which Readability would drop the code keeps it", async () => {
  const code = (index: number) => `<div class="extra-code"><pre>mill --turn ${index}</pre></div>`;
  const parts = Array.from({ length: 8 }, (_, index) => `<p>${prose(4, index)}</p>${code(index)}`);
  const head = '<meta property="og:type" content="article">';
  const text = await read(framed("The mill", `<div class="post">${parts.join("")}</div>`, { head }));
  for (let index = 0; index < 8; index++) expect(text).toContain(`mill --turn ${index}\n`);
});
