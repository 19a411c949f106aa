import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseHTML } from "linkedom";
import { expect, it } from "vitest";
import { convertHtml } from "../src/page/convert/html.ts";
import { missingIn } from "./signatures.ts";

/** Where Debian's packages have their documentation. */
const FOLDER = "/usr/share/doc";
const RUST = "h3.code-header, h4.code-header";
const JAVA = "div.member-signature";
const PYTHON = "dt.sig, div.body h1, div.body h2, div.body h3";
const DOXYGEN = "div.memproto";
const DOCBOOK = ".variablelist dt";
const NODE = "#apicontent h2, #apicontent h3, #apicontent h4";

/** A page of a package, what its signatures are, and how many it has at least. */
const PAGES: readonly [debian: string, page: string, signatures: string, count: number][] = [
  ["rust-doc", "rust-doc/html/std/vec/struct.Vec.html", RUST, 300],
  ["rust-doc", "rust-doc/html/std/primitive.str.html", RUST, 250],
  ["rust-doc", "rust-doc/html/std/option/enum.Option.html", RUST, 120],
  ["rust-doc", "rust-doc/html/std/collections/struct.HashMap.html", RUST, 80],
  ["rust-doc", "rust-doc/html/std/iter/trait.Iterator.html", RUST, 300],
  ["default-jdk-doc", "default-jdk-doc/api/java.base/java/lang/String.html", JAVA, 90],
  ["default-jdk-doc", "default-jdk-doc/api/java.base/java/util/HashMap.html", JAVA, 20],
  ["default-jdk-doc", "default-jdk-doc/api/java.base/java/util/stream/Stream.html", JAVA, 40],
  ["python3-doc", "python3-doc/html/library/functions.html", PYTHON, 70],
  ["python3-doc", "python3-doc/html/library/asyncio-task.html", PYTHON, 40],
  ["python3-doc", "python3-doc/html/library/json.html", PYTHON, 25],
  ["python3-doc", "python3-doc/html/tutorial/classes.html", PYTHON, 15],
  ["nodejs-doc", "nodejs/api/fs.html", NODE, 150],
  ["default-jdk-doc", "default-jdk-doc/api/java.base/java/util/Optional.html", JAVA, 20],
  ["rust-doc", "rust-doc/html/std/primitive.slice.html", RUST, 400],
  ["libstdc++-12-doc", "libstdc++-12-doc/libstdc++/user/a08898.html", DOXYGEN, 100],
  ["postgresql-doc-15", "postgresql-doc-15/html/sql-createtable.html", DOCBOOK, 60],
  ["postgresql-doc-15", "postgresql-doc-15/html/app-pgdump.html", DOCBOOK, 60],
  ["nodejs-doc", "nodejs/api/stream.html", NODE, 40],
];

const linesOf = (code: string): string => code.replace(/[ \t]+$/gm, "").replace(/^\n+|\n+$/g, "");

/** The blocks of code in Markdown, without the marks of the lists and quotes around them. */
function blocksIn(markdown: string): Set<string> {
  const blocks = new Set<string>();
  let open:
    | { readonly indent: number; readonly fence: string; readonly lines: string[] }
    | undefined;
  for (const line of markdown.split("\n")) {
    const [, around = "", fence] = /^((?:> ?|[ \t]|[-*] |\d+\. )*)(```+)/.exec(line) ?? [];
    if (open === undefined)
      open = fence === undefined ? undefined : { indent: around.length, fence, lines: [] };
    else if (line.slice(open.indent).startsWith(open.fence)) {
      blocks.add(linesOf(open.lines.join("\n")));
      open = undefined;
    } else open.lines.push(line.slice(open.indent));
  }
  return blocks;
}

it.for(PAGES)(
  "%s: %s has all its signatures and its code",
  ([debian, page, selector, least], { skip }) => {
    const file = join(FOLDER, page);
    if (!existsSync(file)) skip(`needs Debian's ${debian}`);
    const html = readFileSync(file, "utf8");
    const request = {
      url: "https://mill.example/page",
      includeLinks: true,
    } as const;
    const { text } = convertHtml({ html, ...request });
    const { document } = parseHTML(html);
    // rustdoc shows these traits when the pointer is on them, and Node.js marks permalinks with "#".
    for (const extra of document.querySelectorAll(".notable-traits, a.mark, a.srclink"))
      extra.remove();
    const signatures = [...document.querySelectorAll(selector)].map(
      (element) => element.textContent ?? "",
    );
    expect(signatures.length).toBeGreaterThanOrEqual(least);
    expect(missingIn(text, signatures)).toEqual([]);
    const blocks = blocksIn(text);
    // `br` and `details` in code have no text to compare.
    const codes = [...document.querySelectorAll("pre")].filter(
      (pre) => pre.querySelector("br, details") === null,
    );
    expect(
      codes.map((pre) => linesOf(pre.textContent ?? "")).filter((code) => !blocks.has(code)),
    ).toEqual([]);
  },
);
