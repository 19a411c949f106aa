import { clip, cursorsOf, fitCount, manyLines, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, PageQuery, Repository } from "../open/repository.ts";
import { checked, checkRevisions, commitsOf, ONE_COMMIT, sidesOf } from "../open/revisions.ts";
import { failure, failureOf } from "../run/errors.ts";
import { countOf, linesOf, notesFrom } from "../run/text.ts";
import { blockOf, type Commit, commitPrinter, type LogFormat, shownAs } from "./commits.ts";
import { isShallow, SHALLOW } from "./status.ts";

interface LogQuery extends PageQuery {
  /** Default: full, or oneline for 20 commits and more. */
  readonly format?: LogFormat | undefined;
  readonly revision?: string | undefined;
  readonly path?: string | undefined;
  /** The history of these lines of `path`, `10,40`, or of a function. */
  readonly lines?: string | undefined;
  readonly author?: string | undefined;
  readonly grep?: string | undefined;
  readonly pickaxe?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const position = z.object({
  tips: z.array(z.string().regex(/^\^?[0-9a-f]{40,64}$/)),
  skip: z.int().min(0),
});
const MAX_DIFF = 2_000;

/**
 * Commits, newest first, from one process. The cursor contains object ids, so that the next page
 * continues the same list even if the branch has moved.
 *
 * @throws ToolError `bad_revision`, `bad_date`, `bad_path`, `bad_range`, `stale_cursor`
 */
export async function log(repository: Repository, query: LogQuery, { budget }: Budget) {
  const { limit, cursor, ...filters } = query;
  const { revision: named = "HEAD", format: wanted, ...narrowing } = filters;
  const cursors = cursorsOf("git_log", [repository.location.gitDir, filters], position);
  const start = cursors.decode(cursor);
  const skip = start?.skip ?? 0;
  const revision = checked(named);
  const usual = limit < 20 ? "full" : "oneline";
  const format = wanted ?? (query.lines === undefined ? usual : "stat");
  const printer = commitPrinter(repository);
  const from = { tips: start?.tips ?? [revision], skip };
  const commits = await commitsIn(repository, query, from, format, printer);
  const entries = commits.slice(0, limit).map((commit) => {
    const data = shownAs(format, commit);
    return { data, text: blockOf(data, format === "full" ? commit.commit : undefined) };
  });
  const size = ({ data, text }: (typeof entries)[number]) =>
    Math.max(JSON.stringify(data).length, text.length) + 1;
  const page = entries.slice(0, fitCount(entries, budget - 700, size));
  const isRest = commits.length > page.length;
  const notes = notesFrom(printer.note, !isRest && isShallow(repository) && `${SHALLOW}.`);
  // All commits of one revision begin with it.
  const isWhole = ONE_COMMIT.test(revision) && Object.values(narrowing).every((value) => !value);
  const first = isWhole ? commits.slice(0, 1).map(({ oid }) => oid) : undefined;
  const tips = async () => start?.tips ?? first ?? (await idsOf(repository, revision));
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
  { tips, skip }: z.infer<typeof position>,
  format: LogFormat,
  printer: ReturnType<typeof commitPrinter>,
): Promise<Commit[]> {
  const { limit, pickaxe, lines, path, author, grep } = query;
  const [inside] = path === undefined ? [] : await pathsIn(repository, [path]);
  const range = lines === undefined ? undefined : rangeArg(query, lines, inside);
  // git counts skipped commits before it looks for a text or for lines.
  const isSearch = pickaxe !== undefined || range !== undefined;
  const count = limit + 1 + (isSearch ? skip : 0);
  const detail = format === "stat" ? ["--numstat", "--find-renames"] : ["--no-patch"];
  const result = await repository.run([
    ...["log", ...printer.args, "-z", `--max-count=${count}`],
    !isSearch && `--skip=${skip}`,
    author && `--author=${author}`,
    grep && `--grep=${grep}`,
    ...(author || grep ? ["--extended-regexp"] : []),
    // Ignoring case would also apply to the pickaxe, which takes the text literally.
    (author || grep) && !pickaxe && "--regexp-ignore-case",
    dateArg("since", query.since),
    dateArg("until", query.until),
    pickaxe && `-S${pickaxe}`,
    ...(range === undefined ? detail : [range, "--patch"]),
    ...["--no-follow", "--end-of-options", ...tips, "--", range === undefined && inside],
  ]);
  await checkRevisions(repository, result, tips.flatMap(sidesOf), "read the log");
  const commits = printer.parse(result.stdout).slice(isSearch ? skip : 0);
  if (range === undefined) return commits;
  // From the first hunk on.
  const diffOf = ({ rest }: Commit) => clip(manyLines(rest.slice(rest.indexOf("@@"))), MAX_DIFF);
  return commits.map((commit) => ({ ...commit, diff: diffOf(commit).trimEnd() }));
}

/** Lines of a file in git's form (`git log -L`). */
function rangeArg({ pickaxe, revision }: LogQuery, lines: string, path?: string): string {
  if (path === undefined) throw failure("bad_range", "lines needs path, the file that has them.");
  if (pickaxe) throw failure("bad_range", "lines and pickaxe cannot be combined.");
  if (revision?.includes("..."))
    throw failure("bad_range", "The history of lines cannot begin at two commits: use a..b.");
  const name = lines.trim();
  const [, start, end = start] = /^(\d{1,9})(?:\s*[,-]\s*(\d{1,9}))?$/.exec(name) ?? [];
  if (Number(start) >= 1 && Number(end) >= Number(start)) return `-L${start},${end}:${path}`;
  if (start !== undefined || !/^\w{1,200}$/.test(name)) {
    const message = `lines "${oneLine(clip(lines, 100))}" is neither a range of lines nor a function's name.`;
    const hint = "Pass a range such as 10,40, or a name such as parseLog.";
    throw failure("bad_range", message, { hint });
  }
  // The name as a whole word, as a basic expression.
  const [before, after] = ["^\\(.*[^A-Za-z0-9_]\\)\\{0,1\\}", "\\([^A-Za-z0-9_].*\\)\\{0,1\\}$"];
  return `-L:${before}${name}${after}:${path}`;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DATE =
  /^(\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2})?( ?(Z|[+-]\d{2}:?\d{2}))?)?|now|today|yesterday|noon|midnight|(last|\d+|an?|one|two|three) (second|minute|hour|day|week|month|year)s?( ago)?)$/i;

/**
 * git reads every text as a date, and nonsense as "now"; so only dates and distances pass.
 *
 * @throws ToolError `bad_date`
 */
function dateArg(name: "since" | "until", text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isReal = !DAY.test(text.slice(0, 10)) || !Number.isNaN(Date.parse(text.slice(0, 10)));
  if (!DATE.test(text) || !isReal)
    throw failure("bad_date", `${JSON.stringify(clip(text, 100))} is not a valid date.`);
  // git reads a day without a time as the current time on that day; here it means the whole day.
  const time = DAY.test(text) ? (name === "since" ? "T00:00:00" : "T23:59:59") : "";
  return `--${name}=${text}${time}`;
}

/**
 * The next commit to test in a search by bisection, computed from what is known; nothing is checked
 * out and nothing is remembered (`git rev-list --bisect-vars`).
 */
export async function bisect(
  repository: Repository,
  { good, bad }: { readonly good: readonly string[]; readonly bad: string },
) {
  const [tip = "", ...goodOids] = await commitsOf(repository, [bad, ...good]);
  const args = ["rev-list", "--bisect-vars", tip, ...goodOids.map((oid) => `^${oid}`), "--"];
  const result = await repository.run(args);
  if (result.code > 1) throw failureOf(result, "bisect");
  const vars = result.stdout.toString("utf8");
  const value = (name: string) => new RegExp(`^bisect_${name}='?([^'\n]*)'?$`, "m").exec(vars)?.[1];
  const oid = value("rev") ?? "";
  if (oid === "") {
    const hint = "Pass a bad commit that has commits which no good one has.";
    throw failure("bad_range", "No commit is left to test between these.", { hint });
  }
  const remaining = `${countOf(Number(value("all")), "commit")} left, about ${countOf(Number(value("steps")) + 1, "more test")}`;
  const note =
    oid === tip
      ? "This is the first bad commit."
      : `Test this commit, then call again with it added to good, or as bad: ${remaining}.`;
  const printer = commitPrinter(repository);
  const show = ["log", ...printer.args, "-z", "--numstat", "--max-count=1", oid, "--"];
  const commits = printer.parse(await repository.output(show, "read the commit"));
  const entries = commits.map((commit) => ({ ...shownAs("stat", commit), commit: commit.oid }));
  const text = [...entries.map((commit) => blockOf(commit)), `(${note})`].join("\n");
  return { commits: entries, notes: [note], next_cursor: undefined, text };
}
