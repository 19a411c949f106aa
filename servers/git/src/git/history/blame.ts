import { clip, cursorsOf, oneLine, type ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { commitOf, shortId } from "../open/revisions.ts";
import type { DiffText } from "../read/diff.ts";
import { SHALLOW, shallowCommits } from "../read/partial.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, fittingLines, textOf } from "../run/text.ts";

interface BlameQuery {
  readonly path: string;
  readonly revision: string;
  readonly start_line: number;
  readonly end_line?: number | undefined;
  readonly ignore_whitespace?: boolean;
  readonly detect_moves?: boolean;
  readonly cursor?: string | undefined;
}

const LINES_AT_ONCE = 400;
const position = z.object({ oid: z.string(), line: z.int().min(1) });

/** Who last changed each line of a file, as of a revision. The cursor keeps its original commit. */
export async function blame(
  repository: Repository,
  query: BlameQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const [path = ""] = await pathsIn(repository, [query.path]);
  await refuseOutsideFile(repository);
  const how = [
    ...(query.ignore_whitespace ? ["-w"] : []),
    ...(query.detect_moves ? ["-M", "-C"] : []),
  ];
  const bound = [repository.location.gitDir, path, query.start_line, query.end_line, how];
  const cursors = cursorsOf("git_blame", bound, position);
  const start = cursors.decode(query.cursor) ?? {
    oid: await commitOf(repository, query.revision),
    line: query.start_line,
  };
  const max = Math.max(start.line, query.end_line ?? Number.MAX_SAFE_INTEGER);
  const end = Math.min(max, start.line + LINES_AT_ONCE);
  const range = `-L${start.line},${end}`;
  const plain = ["--porcelain", "--no-textconv", "--encoding=UTF-8"];
  const result = await repository.run(["blame", ...plain, ...how, range, start.oid, "--", path]);
  if (result.code !== 0) throw explain(result, query, path);
  const lines = parseBlame(result.stdout);
  const boundary = await shallowCommits(repository);
  const all = lines.map(({ commit, number, origin: { date, author }, text }) => {
    // git's own mark.
    const mark = boundary?.has(commit) ? "^" : "";
    return `${mark}${shortId(commit)} ${date} ${oneLine(clip(author, 24))} ${number}) ${clip(text, 2_000)}`;
  });
  const shown = fittingLines(all, budget - 800);
  const last = start.line + shown.length - 1;
  const isRest = shown.length < lines.length || (lines.length > LINES_AT_ONCE && last < max);
  const rest = isRest
    ? `; continue with cursor "${cursors.encode({ oid: start.oid, line: last + 1 })}"`
    : "";
  const note = lines.slice(0, shown.length).some(({ commit }) => boundary?.has(commit))
    ? `; ${SHALLOW.toLowerCase()}, so lines marked ^ may be older and by somebody else`
    : "";
  return {
    body: `Blame of ${oneLine(path)} at ${shortId(start.oid)}:\n${shown.join("\n")}`,
    facts: `(lines ${start.line} to ${last}${note}${rest})`,
  };
}

/** `blame.ignoreRevsFile` cannot be overridden (an empty value sorts before the others), so an outside file is refused. */
async function refuseOutsideFile(repository: Repository): Promise<void> {
  for (const { key, value } of (await repository.prepared()).config) {
    if (key !== "blame.ignorerevsfile" || value === "" || (await repository.isInside(value)))
      continue;
    const message = `blame.ignoreRevsFile is "${oneLine(value)}", outside the allowed directories.`;
    const hint = "The user can move that file into the repository, or unset blame.ignoreRevsFile.";
    throw failure("outside_roots", message, { hint });
  }
}

/** Reads `git blame --porcelain`: a commit's facts are only on its first line. */
function parseBlame(output: Buffer) {
  let origin = { author: "", date: "" };
  const lines: { number: number; commit: string; origin: typeof origin; text: string }[] = [];
  const origins = new Map<string, typeof origin>();
  let commit = "";
  let number = 0;
  for (const line of textOf(output).split("\n")) {
    if (line.startsWith("\t")) {
      lines.push({ number, commit, origin, text: line.slice(1) });
      continue;
    }
    const [, oid, final] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(line) ?? [];
    if (oid !== undefined) {
      commit = oid;
      number = Number(final);
      origin = origins.get(oid) ?? { author: "", date: "" };
      origins.set(oid, origin);
      continue;
    }
    const [, key, value = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
    if (key === "author") origin.author = value;
    if (key === "author-time")
      origin.date = new Date(Number(value) * 1000).toISOString().slice(0, 10);
  }
  return lines;
}

function explain(
  result: Parameters<typeof failureOf>[0],
  query: BlameQuery,
  path: string,
): ToolError {
  const { stderr: cause } = result;
  const [, count] = /has only (\d+) lines?/.exec(cause) ?? [];
  if (count !== undefined) {
    const length = counted(Number(count), "line");
    const message = `start_line ${query.start_line} is past the end of the file (${length}).`;
    return failure("bad_range", message, { cause });
  }
  if (!/no such path|is a directory|no such ref/i.test(cause))
    return failureOf(result, "blame the file");
  const hint =
    "git_list_files with the same revision shows the files; paths are relative to the repository's root.";
  const message = `There is no file "${oneLine(path)}" in ${oneLine(query.revision)}.`;
  return failure("bad_path", message, { hint, cause });
}
