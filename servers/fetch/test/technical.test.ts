import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";
import { framed, prose } from "./pages/write.ts";

async function read(html: string, fragment = ""): Promise<string> {
  const lab = await site({ "/page": html });
  const url = `${lab.origin}/page${fragment}`;
  return (await fetched(await webOf([lab]), { url, max_length: 500_000 })).text;
}

/** A page of documentation around a part. */
const documented = (part: string): string =>
  framed(
    "The mill",
    `<main>${part}<p>${prose(6, 1)}</p><pre>one</pre><pre>two</pre><pre>three</pre></main>`,
  );

describe("markup of documentation", () => {
  it.each([
    [
      "a highlighter's element",
      '<div class="highlight-python3 notranslate"><div class="highlight"><pre>if a:\n<span class="w">    </span>b()</pre></div></div>',
      "```python\nif a:\n    b()\n```",
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
});

/** Names of headings that Readability takes for something else than content. */
const NAMES =
  "header code-header header-anchor-post extra-info community-question comment-title menu-title".split(
    " ",
  );

describe.each([
  ["with such a class", (name: string, text: string) => `<h2 class="${name}">${text}</h2>`],
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
