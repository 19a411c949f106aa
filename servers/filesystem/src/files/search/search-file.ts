import { cursorsOf } from "@refmcp/boundary/answer";
import { documentKind, partAt } from "@refmcp/documents/kinds";
import * as z from "zod";
import type { Files } from "../files.ts";
import { withFile } from "../open-path.ts";
import { searchable } from "../read/documents.ts";
import type { Report } from "../tree/reporter.ts";
import { notesOf, nothingLeftOut, pageOf, type TextMatches } from "./answer.ts";
import type { MatchRequest } from "./match-lines.ts";
import type { TextPattern } from "./text-pattern.ts";

export interface TextSearch {
  readonly path: string;
  readonly pattern: string;
  /** Matches the pattern literally, not as a regular expression. */
  readonly literal: boolean;
  readonly ignore_case: boolean;
  /** Which files to search; all if omitted. */
  readonly glob?: string | undefined;
  readonly include_ignored: boolean;
  /** Whether to return lines, files, or the number of lines per file. */
  readonly mode: "content" | "files" | "counts";
  /** How many lines to show before and after each. */
  readonly context: number;
  /** Lines in the mode `content`, files in the others. */
  readonly limit: number;
  readonly budget: number;
  readonly cursor?: string | undefined;
  readonly budgetMs?: number;
  /** After this time, only documents whose text is in memory are searched. */
  readonly documentsMs?: number;
  readonly signal?: AbortSignal;
  /** Gets the number of files that were searched. */
  readonly progress?: Report;
}

const position = z.tuple([z.string(), z.number()]);

export function cursorsFor(realPath: string, request: TextSearch, pattern: TextPattern) {
  const { mode, glob, include_ignored } = request;
  const query = [realPath, mode, pattern, glob, include_ignored];
  const cursors = cursorsOf("search_text", query, position);
  const [path = "", line = 0] = cursors.decode(request.cursor) ?? [];
  const after = request.cursor === undefined ? undefined : { path, line };
  return { after, encode: (path: string, line: number) => cursors.encode([path, line]) };
}

/** What is wanted of a file: its lines from `from` on. */
export function matchRequest({ mode, context, limit }: TextSearch, from = 1): MatchRequest {
  const isContent = mode === "content";
  return { from, limit: isContent ? limit + 1 : 0, context: isContent ? context : 0 };
}

type OpenFile = Awaited<ReturnType<Files["guard"]["openFile"]>>;

/** Searches an open file, or the text of a document, from a line on. */
export async function searchOpened(
  { documents, threads }: Files,
  file: OpenFile,
  { pattern, request }: { pattern: TextPattern; request: MatchRequest },
  signal: AbortSignal,
) {
  const document = await documents.textOf(file, signal);
  const from = document === undefined ? file.handle.fd : searchable(document.text);
  const work = { pattern, from, path: file.realPath, request };
  const { lines, ...rest } = await threads.run("searchOne", work, signal);
  return {
    lines: lines.map((line) => {
      const part = partAt(document?.parts ?? [], line.line);
      return part === undefined ? line : { ...line, part };
    }),
    ...rest,
  };
}

export async function searchFile(
  files: Files,
  request: TextSearch,
  pattern: TextPattern,
  signal: AbortSignal,
): Promise<TextMatches> {
  return withFile(files.guard, request.path, async (file) => {
    const { after, encode } = cursorsFor(file.realPath, request, pattern);
    const wanted = { pattern, request: matchRequest(request, (after?.line ?? 0) + 1) };
    const { lines, total, isBinary } = await searchOpened(files, file, wanted, signal);
    const matches = total > 0 ? [{ path: "", lines, total }] : [];
    const page = pageOf(matches, { ...request, base: file.path, files }, encode);
    if (after !== undefined) return page;
    const archives = Number(documentKind(file.path) === "zip");
    const unsearched = { ...nothingLeftOut(), archives, binary: Number(isBinary) };
    const notes = notesOf(unsearched, total === 0);
    return { ...page, total_files: matches.length, total_lines: total, ...notes };
  });
}
