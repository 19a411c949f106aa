import { describe, expect, it } from "vitest";
import { sized } from "../../../vitest.long.ts";
import { readMarkdown } from "./lab.ts";
import { prose } from "./pages/write.ts";

/** A mark in the text, and the note at the page's end, as different programs write them. */
const SHAPES: Readonly<Record<string, readonly [mark: string, note: string]>> = {
  Pandoc: [
    '<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a>',
    '<section class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>NOTE<a href="#fnref1" class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>',
  ],
  kramdown: [
    '<sup id="fnref:1"><a href="#fn:1" class="footnote" rel="footnote">1</a></sup>',
    '<div class="footnotes"><ol><li id="fn:1"><p>NOTE <a href="#fnref:1" class="reversefootnote">&#8617;</a></p></li></ol></div>',
  ],
  Wikipedia: [
    '<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span>[</span>1<span>]</span></a></sup>',
    '<ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><b><a href="#cite_ref-1">^</a></b></span> <span class="reference-text">NOTE</span></li></ol>',
  ],
  Sphinx: [
    '<a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref"><span class="fn-bracket">[</span>1<span class="fn-bracket">]</span></a>',
    '<aside class="footnote brackets" id="id2" role="doc-footnote"><span class="label"><span class="fn-bracket">[</span><a role="doc-backlink" href="#id1">1</a><span class="fn-bracket">]</span></span><p>NOTE</p></aside>',
  ],
  Word: [
    '<a href="#_ftn1" name="_ftnref1"><span>[1]</span></a>',
    '<div><p><a href="#_ftnref1" name="_ftn1"><span>[1]</span></a> NOTE</p></div>',
  ],
};

const page = (mark: string, note: string): string =>
  `<article><h1>Mills</h1><p>${prose(8, 1)}</p><p>The wheel turns.${mark} It stops.</p><p>${prose(8, 2)}</p>${note}</article>`;

describe("footnotes are marked [^1], with their text at the end", () => {
  it.each(Object.entries(SHAPES))("%s", async (_program, [mark, note]) => {
    const text = await readMarkdown(page(mark, note).replace("NOTE", "<em>The</em> note."));
    expect(text).toContain("The wheel turns.[^1] It stops.");
    expect(text).toMatch(/\n\[\^1\]: \*The\* note\.\s*$/);
    expect(text.split("The* note.")).toHaveLength(2);
    expect(text).not.toMatch(/↩|\[\d\]/);
  });

  it("several marks of one note, and two notes with the same mark", async () => {
    const [mark, note] = SHAPES.Pandoc ?? ["", ""];
    const other = (html: string) => html.replaceAll("fn1", "fm1").replaceAll("fnref1", "fmref1");
    const text = await readMarkdown(
      page(`${mark} Again.${mark}`, note.replace("NOTE", "One.")) +
        page(other(mark), other(note).replace("NOTE", "Two.")),
    );
    expect(text).toContain("turns.[^1] Again.[^1]");
    expect(text).toContain("turns.[^1-2]");
    expect(text).toMatch(/\[\^1\]: One\.\n+\[\^1-2\]: Two\./);
  });

  it("a section has its notes only, and a note can be fetched alone", async () => {
    const [mark, note] = SHAPES.kramdown ?? ["", ""];
    const html = `<main><h2 id="a">A</h2><p>First.${mark}</p><h2 id="b">B</h2><p>Second. ${prose(4, 3)}</p>${note.replace("NOTE", "The note.")}</main>`;
    expect(await readMarkdown(html, { url: "#a" })).toMatch(
      /First\.\[\^1\]\n+\[\^1\]: The note\.$/,
    );
    expect(await readMarkdown(html, { url: "#b" })).not.toContain("[^1]");
    expect(await readMarkdown(html, { url: "#fn:1" })).toContain("The note.");
  });

  it("hidden notes, links to chapters and numbers of a list stay what they are", async () => {
    const [mark] = SHAPES.Pandoc ?? [""];
    const hidden = await readMarkdown(
      page(mark, '<div style="display:none"><p id="fn1">HIDDEN <a href="#fnref1">↩</a></p></div>'),
    );
    expect(hidden).not.toContain("HIDDEN");
    const chapters = await readMarkdown(
      `<main><p>${prose(6, 4)}</p><p>See <a href="#c1">1</a>.</p><h2 id="c1">1 Wheels</h2><p>${prose(6, 5)}</p></main>`,
    );
    expect(chapters).not.toContain("[^");
    const links = '<a href="#a"><b>1</b></a>'.repeat(sized(2_000));
    const many = await readMarkdown(
      `<p>${links}</p><div><p id="a">${links.replaceAll("#a", "#b")}</p></div><p id="b">LAST</p>`,
    );
    expect(many).not.toContain("tags removed");
  });
});

describe("boxes of documentation are alerts", () => {
  it.each<[string, string, string]>([
    [
      "Sphinx",
      '<div class="admonition warning"><p class="admonition-title">Warning</p><p>TEXT</p></div>',
      "[!WARNING]",
    ],
    [
      "GitHub",
      '<div class="markdown-alert markdown-alert-important"><p class="markdown-alert-title"><svg></svg>Important</p><p>TEXT</p></div>',
      "[!IMPORTANT]",
    ],
    [
      "Docusaurus",
      '<div class="theme-admonition theme-admonition-danger admonition_x alert alert--danger"><div class="admonitionHeading_y"><span class="admonitionIcon_z"><svg></svg></span>danger</div><div class="admonitionContent_w"><p>TEXT</p></div></div>',
      "[!CAUTION] **danger**",
    ],
    ["DocBook", '<div class="note"><h3 class="title">Note</h3><p>TEXT</p></div>', "[!NOTE]"],
    [
      "Asciidoctor",
      '<div class="admonitionblock note"><table><tr><td class="icon"><div class="title">Note</div></td><td class="content">TEXT</td></tr></table></div>',
      "[!NOTE]",
    ],
    ["rustdoc", '<div class="warning">TEXT</div>', "[!WARNING]"],
  ])("%s", async (_program, html, head) => {
    const text = await readMarkdown(
      `<main><h1>Mills</h1><p>${prose(8, 6)}</p>${html}<p>${prose(8, 7)}</p></main>`,
    );
    expect(text).toContain(`> ${head}\n>\n> TEXT\n`);
    expect(text.split("TEXT")).toHaveLength(2);
  });

  it("a box can be fetched by its id, a heading is none", async () => {
    const box =
      '<div class="admonition note" id="oil"><p class="admonition-title">Note</p><p>OIL</p></div>';
    const abstract = `<div class="abstract"><h2>Abstract</h2><p>${prose(4, 10)}</p></div>`;
    const html = `<main><h1>Mills</h1>${abstract}<p>${prose(8, 6)}</p>${box}<p>${prose(8, 7)}</p></main>`;
    expect(await readMarkdown(html, { url: "#oil" })).toMatch(/> \[!NOTE\]\n>\n> OIL\s*$/);
    expect(await readMarkdown(html)).toContain("## Abstract");
  });

  it("a page or a long part of it with such a name is not a box", async () => {
    const text = await readMarkdown(
      `<main class="note"><div class="warning">${prose(200, 8)}</div><p>${prose(8, 9)}</p></main>`,
    );
    expect(text).not.toContain("[!");
  });
});
