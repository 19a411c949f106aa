// Syntax colors for source code, as tokens and never as markup: lowlight (highlight.js) with common languages.
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

/** A piece of a line in one color. */
export interface Token {
  readonly text: string;
  /** The kind of token as highlight.js names it, such as `keyword`; empty for plain text. */
  readonly kind: string;
}

const GRAMMARS = {
  ...{
    bash,
    c,
    cpp,
    csharp,
    css,
    dockerfile,
    go,
    ini,
    java,
    javascript,
    json,
    kotlin,
    markdown,
    php,
    python,
  },
  ...{ ruby, rust, sql, swift, typescript, xml, yaml },
};
const EXTENSIONS: Readonly<Record<keyof typeof GRAMMARS, string>> = {
  bash: "sh bash zsh",
  c: "c h",
  cpp: "cc cpp cxx hpp hh",
  csharp: "cs",
  css: "css scss less",
  dockerfile: "dockerfile",
  go: "go",
  ini: "ini toml cfg conf editorconfig",
  java: "java",
  javascript: "js cjs mjs jsx",
  json: "json jsonc json5 map",
  kotlin: "kt kts",
  markdown: "md markdown mdx",
  php: "php",
  python: "py pyi",
  ruby: "rb",
  rust: "rs",
  sql: "sql",
  swift: "swift",
  typescript: "ts cts mts tsx",
  xml: "xml html htm svg vue svelte xhtml",
  yaml: "yml yaml",
};
const lowlight = createLowlight(GRAMMARS);
const languages = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, endings]) =>
    endings.split(" ").map((ending) => [ending, language] as const),
  ),
);
/** Longer texts stay plain, so that a view is shown at once. */
const MAX_CHARACTERS = 100_000;

/** The language of a file by its name; undefined if it is unknown. */
export function languageOf(file: string): string | undefined {
  return languages.get(/[^./\\]+$/.exec(file.toLowerCase())?.[0] ?? "");
}

/** The tokens of each line of a text. */
export function tokensOf(
  text: string,
  language: string | undefined,
): readonly (readonly Token[])[] {
  if (language === undefined || text.length > MAX_CHARACTERS)
    return text.split("\n").map((line) => [{ text: line, kind: "" }]);
  const lines: Token[][] = [[]];
  type Part = { readonly type: string; readonly value?: string } & Partial<Tree>;
  type Tree = { readonly children: readonly Part[]; readonly properties: { className?: unknown } };
  const add = (part: Part, kind: string) => {
    const classes = part.properties?.className;
    const own = Array.isArray(classes) ? String(classes[0]).replace(/^hljs-/, "") : kind;
    for (const child of part.children ?? []) add(child, own);
    for (const [index, line] of (part.value ?? "").split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (line !== "") lines.at(-1)?.push({ text: line, kind });
    }
  };
  add(lowlight.highlight(language, text) as Part, "");
  return lines;
}
