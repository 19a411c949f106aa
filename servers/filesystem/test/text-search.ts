import { onTestFinished } from "vitest";
import { closeFiles, openFiles } from "../src/files/files.ts";
import type { TextMatches } from "../src/files/search/answer.ts";
import { searchText } from "../src/files/search/search.ts";
import type { Tree } from "./tree.ts";

export type TextSearch = Parameters<typeof searchText>[1];
export type Search = (request: Partial<TextSearch>) => Promise<TextMatches>;

/** Searches a tree with the tool's defaults; its threads end with the test. */
export function searcherOf(tree: Tree, ignored: readonly string[] = []): Search {
  const files = openFiles({ guard: tree.guard, ignored });
  onTestFinished(() => closeFiles(files));
  return (request) =>
    searchText(files, {
      path: tree.root,
      pattern: "x",
      literal: false,
      ignore_case: false,
      mode: "content",
      context: 0,
      limit: 100,
      include_ignored: false,
      budget: 20_000,
      ...request,
    });
}

/** The lines below the root in the form `path:line:text`. */
export function lines(tree: Tree, { files }: TextMatches): string[] {
  return files.flatMap(({ path, matches }) =>
    (matches ?? []).map(({ line, text }) => `${path.slice(tree.root.length + 1)}:${line}:${text}`),
  );
}

/** A text in UTF-16 with a byte order mark. */
export function utf16(text: string, big = false): Buffer {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
  return big ? bytes.swap16() : bytes;
}
