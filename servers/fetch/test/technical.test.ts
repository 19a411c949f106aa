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
