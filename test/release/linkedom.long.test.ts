import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fasterLinkedom } from "../../scripts/linkedom.mjs";
import { serverFolder } from "../servers.ts";

const fetch = serverFolder("fetch");
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-linkedom-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the test reads of an element. */
interface Seen {
  readonly localName: string;
  readonly className: string;
  readonly textContent: string;
  matches(selector: string): boolean;
  closest(selector: string): Seen | null;
}

/** linkedom, the conversion of pages and pages to convert, bundled with these plugins. */
async function bundled(name: string, plugins: Plugin[]) {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: {
      contents: [
        `export { convertHtml } from "./src/page/convert/html.ts";`,
        `export { framed, prose } from "./test/pages/write.ts";`,
        `export { parseHTML } from "linkedom";`,
      ].join("\n"),
      resolveDir: fetch,
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    plugins,
    banner: {
      js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
    },
  });
  return import(pathToFileURL(outfile).href);
}

const MARKUP = `<!doctype html><title>T &amp; U</title><body class="a  b a
c"><P CLASS="x y">one<!-- c --> <b class=x>two</b></P><ul id=list><li class="">1<li class="y x z">2<li data-n='1'>3</ul>
<svg viewBox="0 0 1 1"><foreignObject class="fo"><p>in</p></foreignObject><linearGradient id=g /></svg><p class="&lt;x&gt;">e</p>
<template><p class=x>t</p></template><custom-tag class="X">c</custom-tag><textarea class=x>&lt;p class=x></textarea>`;
const SELECTORS =
  "p|P|.x|.X|li, .y|p.x|ul > li|li + li|*|#list, b|[class]|[class~=x]|[class^=x]|svg *|foreignObject|foreignobject|.fo|:not(.x)|li:first-child, .c|p, b, .z, custom-tag|[data-n='1'], li.y|linearGradient".split(
    "|",
  );

it("linkedom's faster parts give what the original ones give", async () => {
  const original = await bundled("original", []);
  const faster = await bundled("faster", [fasterLinkedom]);
  const seen = ({ parseHTML }: typeof original) => {
    const { document } = parseHTML(MARKUP);
    const describeElement = (element: Seen) =>
      `${element.localName} ${element.className} ${element.textContent}`;
    return [
      ...SELECTORS.map((selector) => [
        selector,
        ...[...document.querySelectorAll(selector)].map(describeElement),
      ]),
      ...["p", "P", "LI", "foreignObject", "*"].map((name) =>
        [...document.getElementsByTagName(name)].map(describeElement),
      ),
      [...document.querySelectorAll("*")].map((element: Seen) => [
        element.matches(".x, li"),
        element.closest("p, .a")?.localName,
      ]),
      document.toString(),
    ];
  };
  expect(seen(faster)).toEqual(seen(original));
  const pages: string[] = [
    MARKUP,
    original.framed(
      "The old mill",
      `<main><article><h1>The old mill</h1><p>${original.prose(5, 2)}</p><h2>Its wheel</h2><blockquote><p>${original.prose(1, 4)}</p></blockquote></article></main>`,
    ),
    original.framed(
      "createReader",
      `<main><h1>createReader</h1><pre><code class="language-js">const a = 1;\n</code></pre><table><tr><th>Name<th>Type<tr><td>a<td><code>int</code></table></main>`,
    ),
  ];
  const converted = ({ convertHtml }: typeof original) =>
    pages.map((html) => convertHtml({ html, url: "http://site.example/", includeLinks: true }));
  expect(pages.length).toBeGreaterThan(2);
  expect(converted(faster)).toEqual(converted(original));
});
