import { lstat } from "node:fs/promises";
import { posix } from "node:path";
import { clip, cursorsOf, fitting, manyLines, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, notesFrom, pathText, textOf } from "../run/text.ts";
import { LinePager } from "./line-pager.ts";
import { searchedCommit } from "./list-files.ts";
import { sparseNote } from "./partial.ts";

interface GrepQuery {
  readonly pattern: string;
  readonly revision?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly ignore_case: boolean;
  readonly fixed_strings: boolean;
  readonly context_lines?: number;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The matches in a file. */
export const fileMatches = z.object({
  path: z.string(),
  matches: z.array(
    z.object({
      line: z.number(),
      text: z.string(),
      /** A line near a match that does not match itself. */
      context: z.boolean().optional(),
    }),
  ),
});
type FileMatches = z.infer<typeof fileMatches>;

/** A match, and how many lines of git's output it has. */
interface Found {
  readonly path: string;
  readonly match: FileMatches["matches"][number];
  /** Its path's bytes, as Latin-1. */
  readonly bytes: string;
  readonly lines: number;
}

/** Syntax that only Perl has: classes and assertions such as \d and \K, groups with ?, lazy and possessive repetition. */
const PERL = /\\[dDhHvVRKQEAzZGpPX]|\(\?|[*+?}][?+]/;
const MAX_TEXT_CHARS = 300;
const MAX_BREAKS = 50;
const position = z.object({ oid: z.string().optional(), skip: z.int().min(0) });

/** Lines of tracked files that match a POSIX extended regular expression, in the working tree or in a commit. */
export async function grep(repository: Repository, query: GrepQuery, { budget }: Budget) {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { cursor, limit, ...rest } = query;
  if (rest.pattern === "" || rest.pattern.includes("\0")) throw badPattern(rest.pattern, "");
  const cursors = cursorsOf("git_grep", [repository.location.gitDir, rest], position);
  const given = cursors.decode(cursor);
  const oid = await searchedCommit(repository, query.revision, given);
  const skip = given?.skip ?? 0;
  // In a POSIX expression, \d and similar would silently find nothing.
  const perl = !query.fixed_strings && PERL.test(query.pattern);
  // A path may contain line breaks, so a few more lines than matches are read.
  const maxLines = limit + MAX_BREAKS;
  const pager = new LinePager({ skip, maxLines, maxBytes: budget * 4, maxLineBytes: 8_192 });
  const result = await repository.run(
    [
      "grep",
      ...[
        "-n",
        "-z",
        "-I",
        "--full-name",
        "--no-color",
        "--no-textconv",
        "--no-recurse-submodules",
      ],
      ...["--threads=1", "--no-heading", "--no-break", `--context=${query.context_lines ?? 0}`],
      // Only a matching line has a column, unlike the context lines.
      "--column",
      query.fixed_strings ? "--fixed-strings" : perl ? "--perl-regexp" : "--extended-regexp",
      query.ignore_case && "--ignore-case",
      // The next argument is the pattern, even if it begins with a dash.
      ...["-e", query.pattern],
      ...[oid, "--", ...paths],
    ],
    { onStdout: (chunk) => pager.take(chunk), maxBytes: Number.MAX_SAFE_INTEGER },
  );
  // An unreadable file is skipped with a message on stderr only.
  if (!result.cut && /^error: /m.test(result.stderr)) throw failureOf(result, "search all files");
  // Exit code 1: no matches.
  if (!result.cut && result.code > 1) {
    const isBad = /Perl-compatible regexes|^fatal: (command line|-e option), /m.test(result.stderr);
    throw isBad ? badPattern(query.pattern, result.stderr) : failureOf(result, "search");
  }
  const page = pager.page();
  const all = parseMatches(page.lines, oid);
  const found = oid === undefined ? await withoutLinked(await repository.worktree(), all) : all;
  const sparse = oid === undefined ? await sparseNote(repository) : undefined;
  const hint =
    "Only it was searched; with revision: HEAD the committed files are searched, all of them.";
  let last: string | undefined;
  const size = ({ path, match }: Found) => {
    const heading = path === last ? 0 : JSON.stringify(path).length + 25;
    last = path;
    return JSON.stringify(match).length + 1 + heading;
  };
  const count = Math.min(limit, fitting(found, budget - 500 - (sparse?.length ?? 0), size));
  const isRest = page.more || count < found.length;
  const read = count < found.length ? all.indexOf(found[count] as Found) : all.length;
  const next = skip + all.slice(0, read).reduce((sum, { lines }) => sum + lines, 0);
  const files = grouped(found.slice(0, count));
  const notes = notesFrom(sparse && `${sparse}. ${hint}`);
  const next_cursor = isRest ? cursors.encode({ oid, skip: next }) : undefined;
  const matches = files.flatMap((file) => file.matches.filter(({ context }) => !context));
  const facts = [
    `${counted(matches.length, "match", "matches")} in ${counted(files.length, "file")}`,
    notes?.[0]?.replace(/\.$/, ""),
    next_cursor && `continue with cursor "${next_cursor}"`,
  ];
  return {
    files,
    notes,
    next_cursor,
    /** The same as text. Only its first line is the server's, so that no path or line can imitate it. */
    text: [`(${facts.filter(Boolean).join("; ")})`, ...files.map(textOfFile)].join("\n"),
  };
}

/** Consecutive matches in the same file together. */
function grouped(found: readonly Found[]): FileMatches[] {
  const files: FileMatches[] = [];
  for (const { path, match } of found) {
    const last = files.at(-1);
    if (last?.path === path) last.matches.push(match);
    else files.push({ path, matches: [match] });
  }
  return files;
}

/** A file as ripgrep prints it: its path, then `12:text`, or `12-text` for a line of context. */
function textOfFile({ path, matches }: FileMatches): string {
  const lines = matches.map(
    ({ line, text, context }) => `${line}${context ? "-" : ":"}${manyLines(text)}`,
  );
  return [oneLine(path), ...lines].join("\n");
}

/** Omits files behind a directory that was replaced by a link: git grep would follow it anywhere. */
async function withoutLinked(root: string, found: readonly Found[]): Promise<Found[]> {
  const links = new Map<string, boolean>();
  const isLinked = async (directory: string): Promise<boolean> => {
    if (directory === ".") return false;
    const known = links.get(directory);
    if (known !== undefined) return known;
    const stats = await lstat(
      Buffer.concat([Buffer.from(`${root}/`), Buffer.from(directory, "latin1")]),
    ).catch(() => undefined);
    const linked = stats?.isDirectory() !== true || (await isLinked(posix.dirname(directory)));
    links.set(directory, linked);
    return linked;
  };
  const kept: Found[] = [];
  for (const one of found) if (!(await isLinked(posix.dirname(one.bytes)))) kept.push(one);
  return kept;
}

/** Separates groups of lines with context. */
const SEPARATOR = Buffer.from("--");

/** Joins the lines of a path that contains line breaks: only the last one has the NUL that ends the path. */
function parseMatches(lines: readonly Buffer[], oid: string | undefined): Found[] {
  const found: Found[] = [];
  let begun: Buffer[] = [];
  let separators = 0;
  for (const line of lines) {
    if (begun.length === 0 && line.equals(SEPARATOR)) separators++;
    else begun.push(line);
    if (!line.includes(0)) continue;
    const whole = Buffer.concat(
      begun.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("\n"), part])),
    );
    found.push({ ...parseMatch(whole, oid), lines: begun.length + separators });
    begun = [];
    separators = 0;
  }
  return found;
}

/** Reads `[oid:]path NUL line NUL [column NUL] text`. */
function parseMatch(line: Buffer, oid: string | undefined): Omit<Found, "lines"> {
  const prefix = oid === undefined ? 0 : oid.length + 1;
  const nul = line.indexOf(0);
  const rest = line.subarray(nul + 1);
  const [numbers, digits, column] = /^(\d+)\0(?:(\d+)\0)?/.exec(rest.toString("latin1", 0, 40)) ?? [
    "",
    "0",
  ];
  const text = textOf(rest.subarray(numbers.length));
  const path = line.subarray(prefix, nul);
  const shown = text.length > MAX_TEXT_CHARS ? `${clip(text, MAX_TEXT_CHARS)}…` : text;
  return {
    path: pathText(path),
    match: {
      line: Number(digits),
      text: shown,
      context: column === undefined || undefined,
    },
    bytes: path.toString("latin1"),
  };
}

function badPattern(pattern: string, cause: string) {
  const shown = JSON.stringify(pattern.slice(0, 100));
  if (!/Perl-compatible regexes/.test(cause))
    return failure("bad_pattern", `The pattern ${shown} is not a valid regular expression.`, {
      cause,
    });
  const message = `The pattern ${shown} is a Perl regular expression, which this build of git does not support.`;
  const hint = "Use POSIX extended syntax: [0-9] for \\d, no (?…) and no lazy *?.";
  return failure("bad_pattern", message, { hint });
}
