import { describe, expect, it } from "vitest";
import { failureOf, fetched, run, site, webOf } from "./lab.ts";
import { prose } from "./pages/write.ts";

const framed = (content: string): string =>
  `<title>Manual</title><nav><a href="/">Home</a></nav><main><h1>Manual</h1><p>INTRO ${prose(4, 9)}</p>${content}</main><footer>FOOTER</footer>`;

/** Three parts: the one before the target, the target and the one after it. */
const three = (target: string, part: (name: string) => string): string =>
  ["before", target, "after"].map(part).join("");

/** The structures of documentation generators. */
const PAGES = {
  Sphinx: framed(
    three(
      "print",
      (name) =>
        `<dl class="py function"><dt class="sig" id="${name}"><span>${name}</span><span>(</span><em>*${name}_objects</em><span>)</span><a class="headerlink" href="#${name}">¶</a></dt><dd><p>About ${name}. ${prose(2, 3)}</p><dl><dt>Note</dt><dd>More on ${name}.</dd></dl></dd></dl>`,
    ),
  ),
  rustdoc: framed(
    `<h2 id="implementations">Implementations</h2><div class="impl-items">${three(
      "push",
      (name) =>
        `<details class="rustdoc-toggle method-toggle" open><summary><section id="method.${name}" class="method has-srclink"><span class="rightside"><span class="since">1.0.0</span> · <a class="srclink" href="../src/vec.rs.html#1">source</a></span><a href="#method.${name}" class="anchor"></a><h4 class="code-header">pub fn <a href="#method.${name}" class="fnname">${name}</a>(&amp;mut self, ${name}_value: T)</h4></section></summary><div class="docblock"><p>About ${name}.</p><h5 id="${name}-panics">Panics</h5><p>More on ${name}.</p></div></details>`,
    )}</div>`,
  ),
  javadoc: framed(
    `<section class="method-details"><h2>Method Details</h2><ul class="member-list">${three(
      "put",
      (name) =>
        `<li><section class="detail" id="${name}(K,V)"><h3 id="${name}(java.lang.Object,java.lang.Object)">${name}</h3><div class="member-signature">public&nbsp;V&nbsp;${name}<wbr>(K&nbsp;${name}_key, V&nbsp;value)</div><div class="block">About ${name}. ${prose(1, 4)}</div><dl class="notes"><dt>Returns:</dt><dd>More on ${name}.</dd></dl></section></li>`,
    )}</ul></section>`,
  ),
  tables: framed(
    `<table><thead><tr><th>Name</th><th>Meaning</th><th>Default</th></tr></thead>${three(
      "size",
      (name) =>
        `<tr><td><code id="opt-${name}">${name}_opt</code></td><td>About ${name}.</td><td>More on ${name}.</td></tr>`,
    )}</table>`,
  ),
};

/** Page, fragment, name and signature. */
const TARGETS: readonly [keyof typeof PAGES, string, string, string][] = [
  ["Sphinx", "print", "print", "print(*print_objects)"],
  ["rustdoc", "method.push", "push", "pub fn push(&mut self, push_value: T)"],
  ["javadoc", "put(K,V)", "put", "public V put(K put_key, V value)"],
  ["javadoc", "put(java.lang.Object,java.lang.Object)", "put", "public V put(K put_key, V value)"],
  ["tables", "opt-size", "size", "size_opt"],
];

const letters = (text: string): string =>
  text.replaceAll("<br>", " ").replace(/[^\p{L}\p{N}]+/gu, "");
const HEAD = /^Contents of [^\n]*\n(\[[^\n]*\])\n\n/;

/** Reads a page by fragments: the text, and the line of facts before it. */
async function reader(html: string) {
  const lab = await site({ "/": html });
  const web = await webOf([lab]);
  return async (fragment: string, args: Record<string, unknown> = {}) => {
    const url = `${lab.origin}/#${fragment}`;
    const { text } = await fetched(web, { url, include_links: false, ...args });
    return { facts: HEAD.exec(text)?.[1] ?? "", text: text.replace(HEAD, "") };
  };
}

describe("a link into documentation", () => {
  it.each(TARGETS)(
    "%s #%s gives %s with its signature, and nothing else",
    async (page, fragment, name, signature) => {
      const at = await reader(PAGES[page]);
      const { text, facts } = await at(fragment);
      expect(letters(text)).toContain(letters(signature));
      expect(letters(text).indexOf(letters(signature))).toBeLessThan(20);
      expect(text).toContain(`About ${name}.`);
      expect(text).toContain(`More on ${name}.`);
      expect(text).not.toMatch(/before|after|INTRO|FOOTER|\bsource\b/);
      expect(facts).toMatch(/section "[^"]+"; omit the #fragment for the whole page/);
    },
  );

  it("gives the section under a heading, also of an anchor before it", async () => {
    const part = (id: string, more: string) =>
      `<h2 id="${id}">Examples</h2><p>${more}</p><h3>Details</h3><p>D${id}</p>`;
    const html = framed(
      `${part("a", "FIRST")}<a name="n"></a>${part("b", "SECOND")}<h2>Last</h2><p id="p">LAST</p>`,
    );
    const at = await reader(html);
    for (const fragment of ["b", "n"]) {
      const { text, facts } = await at(fragment);
      expect(text).toBe("## Examples\n\nSECOND\n\n### Details\n\nDb");
      expect(facts).toContain('section "Examples"');
    }
    expect((await at("p")).text).toBe("LAST");
    expect(
      (
        await (
          await reader('<article><p id="user-content-setup">READ</p><p>rest</p></article>')
        )("setup")
      ).text,
    ).toBe("READ");
  });
});

describe("what is not used of a request is named", () => {
  it("a name that the page does not have", async () => {
    const { facts } = await (await reader(PAGES.Sphinx))("%7Bx%7D]|[");
    expect(facts).toContain('nothing readable has the id "{x})/(", so this is the whole page');
  });

  it.each(["", "top", ":~:text=About%20print", "TOP"])(
    "#%s has no note about an id",
    async (fragment) => {
      const { facts, text } = await (await reader(PAGES.Sphinx))(fragment);
      expect(facts).not.toMatch(/ id |#fragment/);
      expect(text).toContain("INTRO");
    },
  );

  it.each([{ selector: "main" }, { section: "Manual" }, { raw: true }])(
    "a fragment with %j",
    async (args) => {
      const { facts } = await (await reader(PAGES.Sphinx))("print", args);
      expect(facts).toContain("the #fragment is not used with section, selector or raw");
    },
  );

  it("a fragment with fetch_find", async () => {
    const lab = await site({ "/": PAGES.Sphinx });
    const asked = { url: `${lab.origin}/#print`, query: "INTRO" };
    expect(await run(await webOf([lab]), "fetch_find", asked)).toMatchObject({
      matches: 1,
      note: "The whole page was searched; indexes are for url, without the #fragment.",
    });
  });

  it("a section that is only similar, or one of several", async () => {
    const html = framed(
      "<h2>Pretty printing</h2><p>A</p><h2>Blueprints</h2><p>B</p><h2>Use</h2><p>C</p><h2>Use</h2><p>D</p>",
    );
    const at = await reader(html);
    expect((await at("", { section: "print" })).facts).toContain(
      'the first heading that contains "print" | other headings that match: "Blueprints"',
    );
    expect((await at("", { section: "use" })).facts).toContain('other headings that match: "Use"');
    expect((await at("", { section: "Blueprints" })).facts).not.toContain("other headings");
    expect(await failureOf(at("", { section: "Blueprnts" }))).toMatchObject({
      message: 'The page has no heading "Blueprnts".',
      hint: 'Similar headings: "Blueprints". For an element with an id, add #id to the URL.',
    });
  });

  it.each([
    [{ section: "Use", format: "metadata" }, "raw and section do not work with format metadata"],
    [{ selector: "p", raw: true }, "section and selector do not work with raw"],
    [{ start_index: 100_000 }, "No more content"],
  ])("%j is refused", async (args, message) => {
    expect((await failureOf((await reader(PAGES.Sphinx))("", args))).message).toContain(message);
  });

  it("text that fetch_find did not search", async () => {
    const article = `<article><h1>Bread</h1>${Array.from({ length: 6 }, (_, index) => `<p>${prose(5, index)}</p>`).join("")}</article>`;
    const lab = await site({ "/": `<nav>SIDEWORD</nav>${article}` });
    const result = await run(await webOf([lab]), "fetch_find", {
      url: lab.origin,
      query: "sideword",
    });
    expect(result).toMatchObject({
      matches: 0,
      note: "Only the main content was searched: selector body searches all.",
    });
  });
});
