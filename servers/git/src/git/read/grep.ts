import { lstat } from "node:fs/promises";
import { posix } from "node:path";
import { cursorsOf, fitCount, manyLines, oneLine, shorten } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, PageQuery, Repository } from "../open/repository.ts";
import { failureOf } from "../run/errors.ts";
import { countOf, pathText, textOf } from "../run/text.ts";
import { beginningOf, listPosition, searchedCommit } from "./list-files.ts";

interface GrepQuery extends PageQuery {
  readonly pattern: string;
  readonly revision?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly ignore_case: boolean;
  readonly fixed_strings: boolean;
}

/** The matches in a file. */
export const fileMatches = z.object({
  path: z.string(),
  matches: z.array(z.object({ line: z.number(), text: z.string() })),
});
type FileMatches = z.infer<typeof fileMatches>;

interface Match {
  readonly path: string;
  /** The path's bytes, as Latin-1. */
  readonly bytes: string;
  readonly match: FileMatches["matches"][number];
}

/** Syntax that only Perl has: classes and assertions such as \d and \K, groups with ?, lazy and possessive repetition. */
const PERL = /\\[dDhHvVRKQEAzZGpPX]|\(\?|[*+?}][?+]/;
const MAX_TEXT_CHARS = 300;
const HOW = [
  ...["-n", "-z", "-I", "--full-name", "--no-color", "--no-textconv", "--no-recurse-submodules"],
  ...["--threads=1", "--no-heading", "--no-break", "--no-column"],
];

/** Lines of tracked files that match a POSIX extended regular expression, in the working tree or in a commit. */
export async function grep(repository: Repository, query: GrepQuery, { budget }: Budget) {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { cursor, limit, ...rest } = query;
  const { pattern, fixed_strings } = rest;
  const cursors = cursorsOf("git_grep", [repository.location.gitDir, rest], listPosition);
  const start = cursors.decode(cursor);
  const oid = await searchedCommit(repository, query.revision, start);
  const skip = start?.skip ?? 0;
  // In a POSIX expression, \d and similar would silently find nothing.
  const syntax = PERL.test(pattern) ? "--perl-regexp" : "--extended-regexp";
  const args = [
    ...["grep", ...HOW, fixed_strings ? "--fixed-strings" : syntax],
    rest.ignore_case && "--ignore-case",
    // The next argument is the pattern, even if it begins with a dash.
    ...["-e", pattern, oid, "--", ...paths],
  ];
  const result = await beginningOf(repository, args, 10, skip + limit);
  // An unreadable file is skipped with a message on stderr only.
  if (!result.cut && /^error: /m.test(result.stderr)) throw failureOf(result, "search all files");
  // Exit code 1: no matches.
  if (!result.cut && result.code > 1) throw failureOf(result, "search");
  const all = parseMatches(result.stdout, oid).slice(skip);
  const matches = oid === undefined ? await withoutLinked(await repository.worktree(), all) : all;
  const size = ({ path, match }: Match) => path.length + JSON.stringify(match).length + 30;
  const pageMatches = matches.slice(0, Math.min(limit, fitCount(matches, budget - 500, size)));
  const following = matches[pageMatches.length];
  const next = skip + (following === undefined ? all.length : all.indexOf(following));
  const isRest = result.cut || following !== undefined;
  const next_cursor = isRest ? cursors.encode({ oid, skip: next }) : undefined;
  const files = byFile(pageMatches);
  const where = `${countOf(pageMatches.length, "match", "matches")} in ${countOf(files.length, "file")}`;
  const more = next_cursor === undefined ? "" : `; continue with cursor "${next_cursor}"`;
  return {
    files,
    next_cursor,
    /** The same as text. Only its first line is the server's, so that no path or line can imitate it. */
    text: [`(${where}${more})`, ...files.map(textOfFile)].join("\n"),
  };
}

/** Consecutive matches in the same file together. */
function byFile(matches: readonly Match[]): FileMatches[] {
  const files: FileMatches[] = [];
  for (const { path, match } of matches) {
    const last = files.at(-1);
    if (last?.path === path) last.matches.push(match);
    else files.push({ path, matches: [match] });
  }
  return files;
}

/** A file as ripgrep prints it: its path, then `12:text`. */
function textOfFile({ path, matches }: FileMatches): string {
  return [oneLine(path), ...matches.map(({ line, text }) => `${line}:${manyLines(text)}`)].join(
    "\n",
  );
}

/** Omits files behind a directory that was replaced by a link: git grep would follow it anywhere. */
async function withoutLinked(root: string, matches: readonly Match[]): Promise<Match[]> {
  const links = new Map<string, boolean>();
  const isLinked = async (directory: string): Promise<boolean> => {
    if (directory === ".") return false;
    const cached = links.get(directory);
    if (cached !== undefined) return cached;
    const path = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(directory, "latin1")]);
    const stats = await lstat(path).catch(() => undefined);
    const linked = stats?.isDirectory() !== true || (await isLinked(posix.dirname(directory)));
    links.set(directory, linked);
    return linked;
  };
  const plain: Match[] = [];
  for (const match of matches) if (!(await isLinked(posix.dirname(match.bytes)))) plain.push(match);
  return plain;
}

/** Reads `[oid:]path NUL line NUL text LF`; the path may contain line breaks. */
function parseMatches(output: Buffer, oid: string | undefined): Match[] {
  const prefix = oid === undefined ? 0 : oid.length + 1;
  const matches: Match[] = [];
  for (let at = 0; at < output.length; ) {
    const line = output.indexOf(0, at) + 1;
    const text = output.indexOf(0, line) + 1;
    const end = output.indexOf(10, text);
    // git was stopped here.
    if (line === 0 || text === 0 || end === -1) break;
    const path = output.subarray(at + prefix, line - 1);
    const content = output.subarray(text, Math.min(end, text + MAX_TEXT_CHARS * 4));
    const match = {
      line: Number(output.toString("latin1", line, text - 1)),
      text: shorten(textOf(content), MAX_TEXT_CHARS),
    };
    matches.push({ path: pathText(path), bytes: path.toString("latin1"), match });
    at = end + 1;
  }
  return matches;
}
