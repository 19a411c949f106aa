import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";

const letters = (text: string): string =>
  text.replaceAll("<br>", " ").replace(/[^\p{L}\p{N}]+/gu, "");
const HEAD = /^Contents of [^\n]*\n\[[^\n]*\]\n\n/;

/** Where Debian's packages have their pages, and in them what a fragment names and its signature. */
const PACKAGES: readonly [string, string, string, string][] = [
  ["python3-doc", "/usr/share/doc/python3-doc/html/library", "dt.sig", "dt.sig"],
  [
    "rust-doc",
    "/usr/share/doc/rust-doc/html/std/vec",
    "section.method",
    "section.method .code-header",
  ],
  [
    "default-jdk-doc",
    "/usr/share/doc/default-jdk-doc/api/java.base/java/util/zip",
    "section.detail",
    "section.detail .member-signature",
  ],
  ["nodejs-doc", "/usr/share/doc/nodejs/api", "h4 a.mark", "h4 > code"],
  ["postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html", "dt[id]", "dt[id]"],
];
const FILES = 3;
const PER_FILE = 4;

describe.each(PACKAGES)("%s", (name, directory, targets, signatures) => {
  it("has a signature at the start of each answer", async (context) => {
    if (!existsSync(directory)) context.skip(`needs the Debian package ${name}`);
    const names = readdirSync(directory).filter((file) => file.endsWith(".html"));
    const pages: Record<string, string> = {};
    const cases: { url: string; signature: string }[] = [];
    for (const file of names.sort()) {
      if (Object.keys(pages).length === FILES) break;
      const html = readFileSync(join(directory, file), "utf8");
      if (html.length > 400_000) continue;
      const { document } = parseHTML(html);
      for (const link of document.querySelectorAll("a.headerlink, .notable-traits")) link.remove();
      const named = [...document.querySelectorAll(targets)];
      const words = [...document.querySelectorAll(signatures)].map(
        ({ textContent }) => textContent ?? "",
      );
      if (named.length < PER_FILE || named.length !== words.length) continue;
      pages[`/${file}`] = html;
      for (const [index, { id }] of named.slice(0, PER_FILE).entries())
        cases.push({ url: `/${file}#${encodeURIComponent(id)}`, signature: words[index] ?? "" });
    }
    expect(cases).toHaveLength(FILES * PER_FILE);
    const lab = await site(pages);
    const web = await webOf([lab]);
    for (const { url, signature } of cases) {
      const { text } = await fetched(web, { url: lab.origin + url, include_links: false });
      const place = letters(text.replace(HEAD, "")).indexOf(letters(signature));
      expect([url, place !== -1 && place < 100]).toEqual([url, true]);
    }
  });
});
