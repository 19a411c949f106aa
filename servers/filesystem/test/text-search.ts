import { onTestFinished } from "vitest";
import { Documents } from "../src/files/read/documents.ts";
import type { TextFound } from "../src/files/search/result-pages.ts";
import { type TextSearch, textSearcher } from "../src/files/search/search-text.ts";
import { ThreadPool } from "../src/files/threads/thread-pool.ts";
import type { Tree } from "./tree.ts";

export type Search = (request: Partial<TextSearch>) => Promise<TextFound>;

/** Searches a tree with the tool's defaults; its threads end with the test. */
export function searcherOf(tree: Tree, ignored: readonly string[] = []): Search {
  const threads = new ThreadPool();
  const searcher = textSearcher(tree.guard, ignored, new Documents(threads));
  onTestFinished(async () => {
    await Promise.all([searcher.close(), threads.close()]);
  });
  return (request) =>
    searcher.search({
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
export function lines(tree: Tree, { files }: TextFound): string[] {
  return files.flatMap(({ path, matches }) =>
    (matches ?? []).map(({ line, text }) => `${path.slice(tree.root.length + 1)}:${line}:${text}`),
  );
}

/** A text in UTF-16 with a byte order mark. */
export function utf16(text: string, big = false): Buffer {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
  return big ? bytes.swap16() : bytes;
}
