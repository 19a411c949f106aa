import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSite, type Site } from "./lab.ts";
import { framed, prose } from "./pages/write.ts";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

let site: Site;
let server: Connected;
beforeAll(async () => {
  site = await openSite({});
  server = await connectStdio(BIN, { args: ["--allow-host", site.host] });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

/** The content that a client receives of a page with this HTML. */
async function read(html: string, args: Record<string, unknown> = {}): Promise<string> {
  const path = `/${Object.keys(site.pages).length}`;
  site.pages[path] = html;
  const answer = await server.client.callTool({
    name: "fetch",
    arguments: { url: site.origin + path, max_length: 50_000, ...args },
  });
  const [first] = Array.isArray(answer.content) ? answer.content : [];
  return first?.type === "text" ? first.text : "";
}

const lines = (text: string) => text.split("\n").map((line) => line.trim());

describe("an id that is also a word of navigation", () => {
  const SECTIONS = {
    login: "Logging in to the server",
    cookies: "How cookies are stored",
    pagination: "Pages of a long list",
    modal: "Modal verbs and windows",
    menu: "What the kitchen serves",
    social: "Social insurance",
    share: "Shares of the company",
    copyright: "Copyright law",
    navigation: "Finding the way at sea",
    subscribe: "Subscribing to events",
    related: "Related modules and directives",
    toc: "Total organic carbon",
  };
  const sections = Object.entries(SECTIONS);
  const titles = Object.values(SECTIONS).map((title) => `## ${title}`);

  it("keeps its heading", async () => {
    const parts = sections.map(
      ([id, title], at) => `<h2 id="${id}">${title}</h2><p>${prose(3, at)}</p>`,
    );
    const text = await read(framed("Manual", `<main><h1>Manual</h1>${parts.join("")}</main>`));
    expect(lines(text)).toEqual(expect.arrayContaining(titles));
  });

  it("keeps its section, with the text", async () => {
    const parts = sections.map(
      ([id, title], at) =>
        `<section id="${id}"><h2>${title}</h2><p>ENTRY ${at}. ${prose(3, at)}</p></section>`,
    );
    const text = await read(framed("Manual", `<main><h1>Manual</h1>${parts.join("")}</main>`));
    expect(lines(text)).toEqual(expect.arrayContaining(titles));
    expect(text.match(/ENTRY \d+\./g)).toHaveLength(sections.length);
  });
});

it("names the language of the code in a README of GitHub", async () => {
  const text = await read(
    `<article class="markdown-body"><h1>Tool</h1><p>${prose(5, 2)}</p>
<div class="highlight highlight-source-shell"><pre>npm install tool</pre></div>
<div class="highlight highlight-text-html-basic"><pre>&lt;p&gt;x&lt;/p&gt;</pre></div></article>`,
  );
  expect(text).toContain("```shell\nnpm install tool");
  expect(text).not.toContain("source-shell");
});

it("ends no heading with the sign of its permalink, and finds the section by its title", async () => {
  const html = framed(
    "attrs",
    `<main><section id="boilerplate"><h2>Boilerplate<a class="headerlink" href="#boilerplate" title="Permalink">\uf0c1</a></h2><p>${prose(4, 3)}</p></section>
<section><h2 id="other">Boilerplate of others<a class="anchor" href="#other">Link to this heading</a></h2><p>${prose(4, 4)}</p></section>
<dl><dt id="f"><code>define(x)</code><a class="headerlink" href="#f">\uf0c1</a></dt><dd><p>${prose(3, 5)}</p></dd></dl></main>`,
  );
  const text = await read(html);
  expect(lines(text)).toEqual(
    expect.arrayContaining(["## Boilerplate", "## Boilerplate of others"]),
  );
  expect(text).not.toContain("\uf0c1");
});

it("keeps which tasks of a list are done in an article", async () => {
  const text = await read(
    `<title>Plan</title><body><nav><a href="/">Home</a></nav><article><h1>Plan</h1><p>${prose(8, 6)}</p><p>${prose(8, 7)}</p>
<ul><li><input type="checkbox" checked disabled> Build the wheel</li><li><input type="checkbox" disabled> Open the gate</li></ul><p>${prose(8, 8)}</p></article></body>`,
  );
  expect(text).toContain("- [x] Build the wheel");
  expect(text).toContain("- [ ] Open the gate");
});

it("gives the title of a page the same level in an article as elsewhere", async () => {
  const article = `<article><h1>The mill</h1><p>${prose(8, 9)}</p><h2>Opening hours</h2><p>${prose(8, 10)}</p></article>`;
  const headings = (text: string) => lines(text).filter((line) => /^#+ /.test(line));
  const outline = headings(await read(`<title>The mill</title><body>${article}</body>`));
  expect(outline).toEqual(["# The mill", "## Opening hours"]);
});
