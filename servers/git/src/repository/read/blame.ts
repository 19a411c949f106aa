import { clip, cursorsOf, fitting, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { SHALLOW, shallowCommits } from "../open/partial.ts";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { failureOf } from "../run/failures.ts";
import { together } from "../run/run-git.ts";
import { textOf } from "../run/text.ts";
import type { DiffText } from "./diff.ts";

interface BlameQuery {
  readonly path: string;
  readonly revision: string;
  readonly start_line: number;
  readonly end_line?: number | undefined;
  readonly ignore_whitespace?: boolean;
  /** Moved or copied lines are attributed to the commit that first wrote them. */
  readonly detect_moves?: boolean;
  readonly cursor?: string | undefined;
}

interface BlamedLine {
  readonly number: number;
  readonly commit: string;
  readonly origin: Origin;
  readonly text: string;
}

interface Origin {
  author: string;
  date: string;
}

const LINES_AT_ONCE = 400;
const position = z.object({ oid: z.string(), line: z.int().min(1) });

/** Who last changed each line of a file, as of a revision. The cursor keeps its original commit. */
export async function blame(repository: Repository, query: BlameQuery, budget: number): Promise<DiffText> {
  // The commit of a first page is looked up while the configuration is read.
  const [[path = ""], first] = await together([
    pathsIn(repository, [query.path]),
    query.cursor === undefined ? commitOf(repository, query.revision) : "",
    refuseOutsideFile(repository),
  ]);
  const how = [...(query.ignore_whitespace ? ["-w"] : []), ...(query.detect_moves ? ["-M", "-C"] : [])];
  const bound = [repository.location.gitDir, path, query.start_line, query.end_line, how];
  const cursors = cursorsOf("git_blame", bound, position);
  const start = cursors.decode(query.cursor) ?? { oid: first, line: query.start_line };
  const max = Math.max(start.line, query.end_line ?? Number.MAX_SAFE_INTEGER);
  const end = Math.min(max, start.line + LINES_AT_ONCE);
  const result = await repository.run([
    "blame",
    "--porcelain",
    "--no-textconv",
    "--encoding=UTF-8",
    ...how,
    `-L${start.line},${end}`,
    start.oid,
    "--",
    path,
  ]);
  if (result.code !== 0) throw explain(result, query, path);
  const lines = parseBlame(result.stdout);
  const boundary = await shallowCommits(repository);
  const all = lines.map(({ commit, number, origin: { date, author }, text }) => {
    // git's own mark.
    const mark = boundary?.has(commit) ? "^" : "";
    return `${mark}${commit.slice(0, 10)} ${date} ${oneLine(clip(author, 24))} ${number}) ${clip(text, 2_000)}`;
  });
  const shown = all.slice(
    0,
    fitting(all, budget - 800, ({ length }) => length + 1),
  );
  const last = start.line + shown.length - 1;
  const isRest = shown.length < lines.length || (lines.length > LINES_AT_ONCE && last < max);
  const rest = isRest ? `; continue with cursor "${cursors.encode({ oid: start.oid, line: last + 1 })}"` : "";
  const isCut = lines.slice(0, shown.length).some(({ commit }) => boundary?.has(commit));
  const note = isCut ? `; ${SHALLOW.toLowerCase()}, so lines marked ^ may be older and by somebody else` : "";
  return {
    body: `Blame of ${oneLine(path)} at ${start.oid}:\n${shown.join("\n")}`,
    facts: `(lines ${start.line} to ${last}${note}${rest})`,
  };
}

/**
 * `blame.ignoreRevsFile` cannot be overridden (an empty value sorts before the others), so an outside file is
 * refused.
 */
async function refuseOutsideFile(repository: Repository): Promise<void> {
  const { config, isInside } = await repository.prepared();
  const outside = config.find(
    ({ key, value }) => key === "blame.ignorerevsfile" && value !== "" && !isInside(value),
  );
  if (outside === undefined) return;
  throw new ToolError(
    "denied",
    `blame.ignoreRevsFile is "${oneLine(outside.value)}", outside the allowed directories.`,
    {
      code: "outside_roots",
      hint: "The user can move that file into the repository, or unset blame.ignoreRevsFile.",
    },
  );
}

/** Reads `git blame --porcelain`: a commit's facts are only on its first line. */
function parseBlame(output: Buffer): BlamedLine[] {
  const lines: BlamedLine[] = [];
  const origins = new Map<string, Origin>();
  let commit = "";
  let number = 0;
  let origin: Origin = { author: "", date: "" };
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
    if (key === "author-time") origin.date = new Date(Number(value) * 1000).toISOString().slice(0, 10);
  }
  return lines;
}

function explain(result: Parameters<typeof failureOf>[0], query: BlameQuery, path: string): ToolError {
  const [, count] = /has only (\d+) lines?/.exec(result.stderr) ?? [];
  if (count !== undefined) {
    return new ToolError(
      "invalid",
      `start_line ${query.start_line} is past the end of the file (${Number(count) === 1 ? "1 line" : `${count} lines`}).`,
      {
        code: "bad_range",
        hint: "Lines are counted from 1.",
        cause: result.stderr,
      },
    );
  }
  if (/no such path|is a directory|no such ref/i.test(result.stderr)) {
    return new ToolError("not_found", `There is no file "${oneLine(path)}" in ${oneLine(query.revision)}.`, {
      code: "bad_path",
      hint: "git_list_files with the same revision shows the files; paths are relative to the repository's root.",
      cause: result.stderr,
    });
  }
  return failureOf(result, "blame the file");
}
