import { cursorsOf, fitting } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { checked, checkRevisions, commitsOf, parseRange, sidesOf } from "../open/revisions.ts";
import {
  blockOf,
  type Commit,
  commitPrinter,
  LOG_PLAIN,
  type LogFormat,
  shownAs,
} from "../read/commits.ts";
import { SHALLOW, shallowCommits } from "../read/partial.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, linesOf, notesFrom } from "../run/text.ts";
import { dateArg, linesFailure, rangeArg, shortDiff } from "./log-arguments.ts";

interface LogQuery {
  readonly limit: number;
  /** Default: full, or oneline for 20 commits and more. */
  readonly format?: LogFormat | undefined;
  readonly revision?: string | undefined;
  readonly path?: string | undefined;
  /** The history of these lines of `path`, `10,40` or `10,`, or of a function. */
  readonly lines?: string | undefined;
  readonly author?: string | undefined;
  readonly grep?: string | undefined;
  readonly pickaxe?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
}

const position = z.object({
  tips: z.array(z.string().regex(/^\^?[0-9a-f]{40,64}$/)),
  skip: z.int().min(0),
});

/**
 * Commits, newest first, from one process. The cursor contains object ids, so that the next page
 * continues the same list even if the branch has moved.
 *
 * @throws ToolError `bad_revision`, `bad_date`, `bad_path`, `bad_range`, `stale_cursor`
 */
export async function log(repository: Repository, query: LogQuery, { budget }: Budget) {
  const { limit, cursor, ...filters } = query;
  const cursors = cursorsOf("git_log", [repository.location.gitDir, filters], position);
  const start = cursors.decode(cursor);
  const skip = start?.skip ?? 0;
  const revision = checked(query.revision ?? "HEAD");
  const format =
    query.format ?? (query.lines !== undefined ? "stat" : limit < 20 ? "full" : "oneline");
  const commits = await commitsIn(repository, query, start?.tips ?? [revision], skip, format);
  const shown = commits.slice(0, limit).map((commit) => {
    const data = shownAs(format, commit);
    return { data, text: blockOf(data, format === "full" ? commit.commit : undefined) };
  });
  const size = ({ data, text }: (typeof shown)[number]) =>
    Math.max(JSON.stringify(data).length, text.length) + 1;
  const page = shown.slice(0, fitting(shown, budget - 700, size));
  const isRest = commits.length > page.length;
  const notes = notesFrom(await shallowNote(repository, commits.slice(0, page.length), isRest));
  const { path, lines, author, grep, pickaxe, since, until } = query;
  const hasFilters = [path, lines, author, grep, pickaxe, since, until].some(Boolean);
  // Without filters the first commit is the one that the revision names.
  const first = hasFilters || parseRange(revision) ? undefined : commits[0]?.oid;
  const tips = async () => start?.tips ?? (first ? [first] : idsOf(repository, revision));
  const next_cursor = isRest
    ? cursors.encode({ tips: await tips(), skip: skip + page.length })
    : undefined;
  const last = notesFrom(notes, next_cursor && `Continue with cursor "${next_cursor}"`) ?? [];
  return {
    commits: page.map(({ data }) => data),
    notes,
    next_cursor,
    /** The same as text. */
    text: [...page.map(({ text }) => text), ...last.map((line) => `(${line})`)].join("\n"),
  };
}

async function shallowNote(repository: Repository, commits: readonly Commit[], isRest: boolean) {
  const boundary = await shallowCommits(repository);
  const isCut = boundary && (!isRest || commits.some(({ oid }) => boundary.has(oid)));
  return isCut && `${SHALLOW}. A change that seems to come from the oldest one here may be older.`;
}

/** The object ids that a revision or range starts from, and `^` with what it leaves out. */
async function idsOf(repository: Repository, revision: string): Promise<string[]> {
  const args = ["rev-parse", "--revs-only", "--end-of-options", revision, "--"];
  const output = await repository.output(args, "look up a revision");
  return linesOf(output).filter((line) => /^\^?[0-9a-f]{40,64}$/.test(line));
}

/** The next commits of a list, one more than wanted if there are more. */
async function commitsIn(
  repository: Repository,
  query: LogQuery,
  tips: readonly string[],
  skip: number,
  format: LogFormat,
): Promise<Commit[]> {
  const { limit, pickaxe, lines, path } = query;
  const [inside] = path === undefined ? [] : await pathsIn(repository, [path]);
  refuseUnclear(query);
  // git counts skipped commits before it looks for a text or for lines.
  const isSearch = [pickaxe, lines].some(Boolean);
  const limits = isSearch
    ? [`--max-count=${skip + limit + 1}`]
    : [`--max-count=${limit + 1}`, `--skip=${skip}`];
  const printer = commitPrinter();
  const hasLines = lines !== undefined && inside !== undefined;
  const result = await repository.run([
    ...["log", ...LOG_PLAIN, printer.format, "-z", ...limits],
    ...(await filterArgs(repository, query)),
    pickaxe && `-S${pickaxe}`,
    hasLines && rangeArg(lines, inside),
    hasLines && "--patch",
    format === "stat" ? !hasLines && "--numstat" : !hasLines && "--no-patch",
    format === "stat" && !hasLines && "--find-renames",
    "--no-follow",
    ...["--end-of-options", ...tips, "--", hasLines ? undefined : inside],
  ]);
  if (hasLines && result.code !== 0 && !/unknown revision|bad revision/.test(result.stderr))
    throw linesFailure(result, lines, inside);
  await checkRevisions(repository, result, tips.flatMap(sidesOf), "read the log");
  const all = printer.parse(result.stdout);
  const commits = isSearch ? all.slice(skip) : all;
  return hasLines
    ? commits.map((commit) => ({ ...commit, diff: shortDiff(commit.rest) }))
    : commits;
}

function refuseUnclear({ path, lines, pickaxe, revision }: LogQuery): void {
  if (lines === undefined) return;
  if (path === undefined)
    throw failure("bad_range", "lines needs path, the file that has them.", {
      hint: "Pass path too.",
    });
  if (pickaxe)
    throw failure("bad_range", "lines and pickaxe cannot be combined.", {
      hint: "Omit one of them.",
    });
  if (revision?.includes("..."))
    throw failure("bad_range", "The history of lines cannot begin at two commits.", {
      hint: "Pass one commit, or a range with two dots: a..b.",
    });
}

async function filterArgs(repository: Repository, query: LogQuery) {
  const { author, grep, since, until } = query;
  return [
    author && `--author=${author}`,
    grep && `--grep=${grep}`,
    // Ignoring case would also apply to the pickaxe, which takes the text literally.
    ...(author || grep ? ["--extended-regexp"] : []),
    (author || grep) && !query.pickaxe && "--regexp-ignore-case",
    await dateArg(repository, "since", since),
    await dateArg(repository, "until", until),
  ];
}

/**
 * The next commit to test in a search by bisection, computed from what is known; nothing is checked
 * out and nothing is remembered (`git rev-list --bisect-vars`).
 */
export async function bisect(
  repository: Repository,
  { good, bad }: { readonly good: readonly string[]; readonly bad: string },
) {
  const [tip = "", ...known] = await commitsOf(repository, [bad, ...good]);
  const args = ["rev-list", "--bisect-vars", tip, ...known.map((oid) => `^${oid}`), "--"];
  const result = await repository.run(args);
  if (result.code > 1) throw failureOf(result, "bisect");
  const vars = result.stdout.toString("utf8");
  const value = (name: string) => new RegExp(`^bisect_${name}='?([^'\n]*)'?$`, "m").exec(vars)?.[1];
  const oid = value("rev") ?? "";
  if (oid === "") {
    const hint = "Pass a bad commit that has commits which no good one has.";
    throw failure("bad_range", "No commit is left to test between these.", { hint });
  }
  const isFound = oid === tip;
  const left = counted(Number(value("all")), "commit");
  const note = isFound
    ? "This is the first bad commit."
    : `Test this commit, then call again with it added to good, or as bad: ${left} left, about ${counted(Number(value("steps")) + 1, "more test")}.`;
  const printer = commitPrinter();
  const show = ["log", ...LOG_PLAIN, printer.format, "-z", "--numstat", "--max-count=1", oid, "--"];
  const commits = printer.parse(await repository.output(show, "read the commit"));
  const shown = commits.map((commit) => ({ ...shownAs("stat", commit), commit: commit.oid }));
  const text = [...shown.map((commit) => blockOf(commit)), `(${note})`].join("\n");
  return { commits: shown, notes: [note], next_cursor: undefined, text };
}
