import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";
import { javadocPage, rustdocPage, sphinxPage } from "./pages/technical.ts";
import { framed, prose } from "./pages/write.ts";
import { missingIn } from "./signatures.ts";

async function read(html: string, fragment = ""): Promise<string> {
  const lab = await site({ "/page": html });
  const url = `${lab.origin}/page${fragment}`;
  return (await fetched(await webOf([lab]), { url, max_length: 500_000 })).text;
}

describe.each(
  Object.entries({ rustdoc: rustdocPage(), javadoc: javadocPage(), Sphinx: sphinxPage() }),
)("a page by %s", (_generator, { html, signatures }) => {
  it("has all its signatures and headings, in order, and no menu", async () => {
    const text = await read(html);
    expect(missingIn(text, signatures)).toEqual([]);
    expect(text).not.toMatch(/SIDEBAR|<br>/);
  });
});

/** A page of documentation around a part. */
const documented = (part: string): string =>
  framed(
    "The mill",
    `<main>${part}<p>${prose(6, 1)}</p><pre>one</pre><pre>two</pre><pre>three</pre></main>`,
  );

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
    [
      "no language",
      '<div class="highlight-default"><pre>plain here</pre></div>',
      "```\nplain here\n```",
    ],
    [
      "lines as elements",
      '<div class="fragment"><div class="line"><span class="lineno">  1</span>int a;</div><div class="line">  int b;</div></div>',
      "```\nint a;\n  int b;\n```",
    ],
    [
      "a block in a block",
      '<pre><code><div class="highlight"><pre><span></span><span class="kt">void</span>\n<span class="n">turn</span> (\n  Wheel* self\n)\n</pre></div></code></pre>',
      "\n\n```\nvoid\nturn (\n  Wheel* self\n)\n```",
    ],
    [
      "markup in it",
      '<p><code class="literal">TURN <em class="replaceable"><code>wheel</code></em> { BY | <var>TO</var> }</code></p>',
      "`TURN wheel { BY | TO }`",
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
      documented(
        `<ul><li><h2>Methods</h2><div class="summary-table">${grid.join("")}</div></li></ul>`,
      ),
    );
    expect(text).toMatch(/^## Methods$/m);
    expect(text).toMatch(/^\| turn\(\) \| Turns the wheel\. \|$/m);
    expect(text).toMatch(/^\| stop\(\) \| Stops it\. \|$/m);
  });

  it("a heading in a table's first row is above it, and titles between its rows keep it a table", async () => {
    const member = (type: string, name: string) =>
      `<tr class="memitem:a1"><td class="memItemLeft">${type}</td><td class="memItemRight">${name}</td></tr>` +
      '<tr class="separator:a1"><td class="memSeparator" colspan="2">&#160;</td></tr>';
    const text = await read(
      documented(
        '<table class="memberdecls"><tr class="heading"><td colspan="2"><h2><a id="types"></a>Public Types</h2></td></tr>' +
          `${member("enum", "Grain")}<tr><td colspan="2">template&lt;class T&gt;</td></tr>${member("typedef T", "Sack")}</table>`,
      ),
    );
    expect(text).toMatch(/^## Public Types\n\n\| enum \| Grain \|$/m);
    expect(text).toMatch(/^\| template\\<class T> \| *\|\n\| typedef T \| Sack \|$/m);
  });

  it("code in a table of data is lines in its cells", async () => {
    const text = await read(
      documented(
        "<table><tr><th>call</th><th>result</th></tr><tr><td><pre>a\n  b</pre></td><td>one</td></tr>" +
          "<tr><td><pre>c</pre></td><td>two</td></tr></table>",
      ),
    );
    expect(text).toContain("| `a`<br>`  b` | one |");
    expect(text).toContain("| `c` | two |");
  });

  it("a title in a section, a section with code and a hash in a class are not navigation", async () => {
    const text = await read(
      documented(
        '<section><header><h1>The wheel title</h1></header><p>It turns.</p></section><section id="sql-share"><h2>Locks</h2><pre>lock</pre></section><div class="m:ad3d947d3e32b1521bb1ccd9eab4c46cb">A member</div>',
      ),
    );
    for (const part of ["The wheel title", "Locks", "A member"]) expect(text).toContain(part);
  });

  it("a table of one row with columns is a table", async () => {
    const text = await read(
      documented(
        "<table><colgroup><col><col></colgroup><tbody><tr><td><p>wheel</p></td><td><p>a wheel</p></td></tr></tbody></table>",
      ),
    );
    expect(text).toMatch(/^\| wheel \| a wheel \|$/m);
  });

  it("a heading has no link to its source and no description of its types", async () => {
    const source = '<a class="srclink" href="https://example.com/mill.c#L9">[src]</a>';
    const traits =
      '<span class="notable-traits"><span>ⓘ<span class="notable-traits-tooltiptext">Notable traits</span></span></span>';
    const text = await read(
      documented(
        `<h4>Declaration ${source}</h4><h4>fn turn() -&gt; Wheel${traits} where</h4><h4>fn stop()<a href="#" class="tooltip">ⓘ</a></h4>`,
      ),
    );
    expect(text).toMatch(/^#### Declaration$/m);
    expect(text).toMatch(/^#### fn turn\(\) -> Wheel where$/m);
    expect(text).toMatch(/^#### fn stop\(\)$/m);
  });

  it("a link to a member returns its section with a heading, whatever lists are around it", async () => {
    const member = (name: string) =>
      `<li><section class="detail"><h3 id="${name}">${name}</h3><div class="member-signature">Wheel ${name}()</div><div>${prose(2, name.length)}</div></section></li>`;
    const page = documented(
      `<ul class="details-list"><li><section><h2>Methods</h2><ul class="member-list">${member("turn")}${member("stop")}</ul></section></li></ul>`,
    );
    const text = await read(page, "#turn");
    expect(text).toMatch(/^### turn$/m);
    expect(text).toContain("Wheel turn()");
    expect(text).not.toContain("stop");
  });

  it("a reference with little code keeps all its headings and tables", async () => {
    const rows = ["turn", "stop", "grind"].map(
      (name) =>
        `<div class="col-first method-summary-table">Wheel</div><div class="col-last">${name}(): ${prose(3, name.length)}</div>`,
    );
    const html = framed(
      "The mill",
      `<div class="header extra"><h1>Class Mill</h1></div><div>${[1, 2, 3, 4].map((index) => `<p>${prose(6, index)}</p>`).join("")}</div>` +
        `<div class="extra-members"><h2>Summary</h2><div class="summary-table"><div class="table-header">Type</div><div class="table-header">Method</div>${rows.join("")}</div></div>`,
      { head: '<meta name="generator" content="javadoc/ClassWriterImpl">' },
    );
    const text = await read(html);
    expect(text).toMatch(/^\| Wheel \| grind\(\)/m);
    expect(text).toMatch(/^# Class Mill$/m);
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
  [
    "alone in such an element",
    (name: string, text: string) => `<div class="${name}"><h2>${text}</h2></div>`,
  ],
])("headings of prose, %s", (_where, heading) => {
  it("stay", async () => {
    const parts = NAMES.map(
      (name, index) => `${heading(name, `Part ${index}.`)}<p>${prose(4, index)}</p>`,
    );
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
  const text = await read(
    framed("The mill", `<div class="post">${parts.join("")}</div>`, { head }),
  );
  for (let index = 0; index < 8; index++) expect(text).toContain(`mill --turn ${index}\n`);
});
