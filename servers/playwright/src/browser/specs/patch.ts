import { readFile, realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import { replaceFile } from "../store/disk.ts";
import type { Site } from "./hook-order.ts";

/** Another text for a part of a spec. */
export interface Edit {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly source: string;
}

/**
 * The edit that replaces a locator's call by other code.
 *
 * @param from the first of the calls that are replaced; the last one's closing parenthesis is the end.
 * @returns undefined if the calls are not found where they were reported, or not in one expression.
 */
export async function editOf(
  project: string,
  from: Site,
  to: Site,
  code: string,
): Promise<Edit | undefined> {
  if (from.file !== to.file || !(await isBelow(project, to.file))) return undefined;
  const source = await readFile(to.file, "utf8");
  const start = callAt(source, from)?.start;
  const last = callAt(source, to);
  if (start === undefined || last === undefined || last.start < start) return undefined;
  const { end } = last;
  if (/[;=]/.test(source.slice(start, last.start).replace(/(["'`]).*?\1/g, ""))) return undefined;
  const isSingle = (source.match(/'/g)?.length ?? 0) > (source.match(/"/g)?.length ?? 0);
  return { file: to.file, start, end, source, text: isSingle ? singleQuoted(code) : code };
}

/** Whether a file is one of the project's own. */
export async function isBelow(project: string, file: string): Promise<boolean> {
  const [root, path] = await Promise.all([realpath(project), realpath(file)]);
  const inside = relative(root, path);
  return (
    inside !== "" &&
    !isAbsolute(inside) &&
    !/^\.\.(?:[\\/]|$)|(?:^|[\\/])node_modules[\\/]/.test(inside)
  );
}

/**
 * A call in a text: at its line and column or soon after it, as compiled code has other columns. Its arguments must
 * have the texts that it was called with: with a variable, another call would be changed, too.
 */
function callAt(
  source: string,
  { line, column, method, texts }: Site,
): { start: number; end: number } | undefined {
  const before =
    source
      .split("\n")
      .slice(0, line - 1)
      .join("\n").length + (line > 1 ? 1 : 0);
  for (const from of [before + column - 1, before]) {
    let start = source.indexOf(`${method}(`, from);
    for (
      ;
      start >= 0 && start < from + NEAR_CHARS;
      start = source.indexOf(`${method}(`, start + 1)
    ) {
      const end = closing(source, start + method.length);
      const call = source.slice(start, end);
      if (
        end !== undefined &&
        texts.every((text) => literals(text).some((one) => call.includes(one)))
      )
        return { start, end };
    }
  }
  return undefined;
}

const NEAR_CHARS = 300;

/** How a text can be written as a literal. */
const literals = (text: string): string[] => {
  const json = JSON.stringify(text).slice(1, -1);
  return [
    `"${json}"`,
    ...["'", "`"].map(
      (quote) => quote + json.replace(/\\"/g, '"').replaceAll(quote, `\\${quote}`) + quote,
    ),
  ];
};

/** The end of the parentheses that open at `open`. */
function closing(source: string, open: number): number | undefined {
  let depth = 0;
  let quote = "";
  for (let at = open; at < source.length; at++) {
    const letter = source.charAt(at);
    if (quote !== "") {
      if (letter === "\\") at += 1;
      else if (letter === quote) quote = "";
    } else if (/["'`]/.test(letter) || isPattern(source, at)) quote = letter;
    else if (/[([{]/.test(letter)) depth += 1;
    else if (/[)\]}]/.test(letter)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Whether a slash begins a regular expression: a division has a value before it. */
const isPattern = (source: string, at: number) =>
  source.charAt(at) === "/" && /[(,:=[!&|?{};]\s*$/.test(source.slice(Math.max(0, at - 20), at));

const singleQuoted = (code: string): string =>
  code.replace(/"((?:[^"\\]|\\.)*)"/g, (all, text: string) =>
    /'/.test(text) ? all : `'${text.replace(/\\"/g, '"')}'`,
  );

function edited(source: string, edits: readonly Edit[]): string {
  let text = source;
  for (const { start, end, text: code } of edits.toSorted((a, b) => b.start - a.start))
    text = text.slice(0, start) + code + text.slice(end);
  return text;
}

/** The edits by file, with its source. */
function byFile(edits: readonly Edit[]) {
  const files = new Map<string, { source: string; edits: Edit[] }>();
  for (const edit of edits) {
    const known = files.get(edit.file);
    if (known === undefined) files.set(edit.file, { source: edit.source, edits: [edit] });
    else known.edits.push(edit);
  }
  return files;
}

/** The edits as a unified diff, with paths from the project's folder. */
export async function diffOf(project: string, edits: readonly Edit[]): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const patches = [...byFile(edits)].map(([file, { source, edits: own }]) => {
    const path = pathIn(project, file);
    const options = { context: 2, headerOptions: FILE_HEADERS_ONLY };
    return createTwoFilesPatch(
      `a/${path}`,
      `b/${path}`,
      source,
      edited(source, own),
      "",
      "",
      options,
    );
  });
  return patches.sort().join("");
}

/** A file's path in the project, with slashes. */
export const pathIn = (project: string, file: string): string =>
  relative(project, file).replaceAll("\\", "/");

/**
 * Writes the edits, each file at once.
 *
 * @throws ToolError `conflict` if a file has changed since, `denied` if it is not one of the project's.
 * @returns a function that writes the files as they were.
 */
export async function applyEdits(
  project: string,
  edits: readonly Edit[],
): Promise<() => Promise<void>> {
  const files = byFile(edits);
  for (const [file, { source }] of files) {
    if (!(await isBelow(project, file)))
      throw new ToolError("denied", `${file} is not a file of the project.`, {
        hint: "Change it by hand.",
      });
    if ((await readFile(file, "utf8")) !== source)
      throw new ToolError(
        "conflict",
        `${pathIn(project, file)} has changed since the test was run.`,
        {
          hint: "Call pw_heal again.",
        },
      );
  }
  for (const [file, { source, edits: own }] of files) await replaceFile(file, edited(source, own));
  return async () => {
    for (const [file, { source }] of files) await replaceFile(file, source);
  };
}
