import type { Report } from "../tree/reporter.ts";
import type { MatchedLine } from "./match-lines.ts";

export interface TextSearch {
  readonly path: string;
  readonly pattern: string;
  /** Matches the pattern literally, not as a regular expression. */
  readonly literal: boolean;
  readonly ignore_case: boolean;
  /** Which files to search; all if omitted. */
  readonly glob?: string | undefined;
  readonly include_ignored: boolean;
  /** Whether to return lines, only their matched texts, files, or the number of lines per file. */
  readonly mode: "content" | "matches" | "files" | "counts";
  /** How many lines to show before and after each. */
  readonly context: number;
  /** Lines in the modes `content` and `matches`, files in the others. */
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

export interface ShownFile {
  path: string;
  /** The number of matching lines; only in mode `counts`. */
  lines?: number;
  matches?: MatchedLine[];
}

export interface SearchPage {
  files: ShownFile[];
  next_cursor?: string;
}

export interface TextMatches extends SearchPage {
  /** Over all pages; absent on later pages. */
  total_files?: number;
  total_lines?: number;
  notes?: string[];
}

/** A file with matching lines. */
export interface FoundFile {
  /** Below the searched directory; "" is the searched file itself. */
  readonly path: string;
  /** The first lines; fewer than `total` if they are not all needed. */
  readonly lines: readonly MatchedLine[];
  readonly total: number;
}

/** The last line that was shown; `DONE` if the whole file was. */
export const DONE = Number.MAX_SAFE_INTEGER;
