import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, cursorsOf, fitting, grouped } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Arguments } from "../open/machine.ts";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Caller, Repository } from "../open/repository.ts";
import { commitsOf, parseRange, shortIds } from "../open/revisions.ts";
import { failure, noCommits } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { notesFrom } from "../run/text.ts";
import { filesOf } from "./commit-facts.ts";
import {
  blockOf,
  type Commit,
  LOG_ARGS,
  LOG_FORMAT,
  type LogFormat,
  parseLog,
  type ShownCommit,
} from "./commits.ts";
import { lineHistory } from "./line-history.ts";

interface LogQuery {
  limit: number;
  /** Default: full, or oneline for 20 commits and more. */
  format?: LogFormat | undefined;
  /** The history of these lines of `path`, `10,40`, or of a function. */
  lines?: string | undefined;
  revision?: string | undefined;
  path?: string | undefined;
  follow?: boolean;
  author?: string | undefined;
  grep?: string | undefined;
  pickaxe?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  cursor?: string | undefined;
}

const MAX_SUBJECT = 200;
const IGNORE_CASE = "--regexp-ignore-case";
/** Maximum commits that one call searches. */
const MAX_LISTED = 1_000_000;
/** The share of a call's time after which a search returns what it has found. */
const SEARCH_SHARE = 0.8;
const position = z.object({
  tips: z.array(z.string().regex(/^\^?[0-9a-f]{40,64}$/)),
  skip: z.int().min(0),
});

export const SHALLOW = "The history is shallow: older commits are missing";

/** The commits of a shallow clone whose parents are missing; undefined if the history is complete. */
export async function shallowCommits(
  repository: Repository,
): Promise<ReadonlySet<string> | undefined> {
  const text = await readFile(join(repository.location.commonDir, "shallow"), "utf8").catch(
    () => "",
  );
  const oids = text.split("\n").filter(Boolean);
  return oids.length === 0 ? undefined : new Set(oids);
}

/** What a search reports: progress, and the time that it has. */
type Searcher = Budget & Partial<Pick<Caller, "progress"> & { readonly leftMs: number }>;

/**
 * Commits, newest first. The cursor contains object ids, so that the next page continues the same list even if the branch has
 * moved.
 *
 * @throws ToolError `bad_revision`, `bad_date`, `bad_path`, `bad_range`, `stale_cursor`
 */
export async function log(repository: Repository, query: LogQuery, caller: Searcher) {
  const { limit, cursor, ...filters } = query;
  const cursors = cursorsOf("git_log", [repository.location.gitDir, filters], position);
  const { tips, skip } = cursors.decode(cursor) ?? {
    tips: await tipsOf(repository, query.revision),
    skip: 0,
  };
  const format =
    query.format ?? (query.lines !== undefined ? "stat" : limit < 20 ? "full" : "oneline");
  const { found, next, note } = await find(repository, query, { tips, skip }, caller);
  const commits = found.slice(0, limit).map(({ commit }) => commit);
  const shown = await shownIn(repository, format, commits);
  const size = ({ commit, text }: Shown) =>
    Math.max(JSON.stringify(commit).length, text.length) + 1;
  const page = shown.slice(0, fitting(shown, caller.budget - 700, size));
  const left = found.length > page.length;
  const rest = left ? found[page.length - 1]?.end : next;
  const boundary = await shallowCommits(repository);
  const isCut =
    boundary !== undefined &&
    (rest === undefined ||
      commits.slice(0, page.length).some(({ commit }) => boundary.has(commit)));
  const shallow = `${SHALLOW}. A change that seems to come from the oldest one here may be older.`;
  const notes = notesFrom(isCut && shallow, !left && note);
  const next_cursor = rest === undefined ? undefined : cursors.encode({ tips, skip: rest });
  const last = notesFrom(notes, next_cursor && `Continue with cursor "${next_cursor}"`) ?? [];
  return {
    commits: page.map(({ commit }) => commit),
    notes,
    next_cursor,
    /** The same as text. */
    text: [...page.map(({ text }) => text), ...last.map((line) => `(${line})`)].join("\n"),
  };
}

/** A commit in a format, as data and as text. */
interface Shown {
  readonly commit: ShownCommit;
  readonly text: string;
}

/** Commits in a format. Without `files` if they have diffs. */
export async function shownIn(
  repository: Repository,
  format: LogFormat,
  commits: readonly Commit[],
): Promise<Shown[]> {
  const isFull = format === "full";
  const oids = commits.map(({ commit }) => commit);
  const isStat = format === "stat" && commits.every(({ diff }) => diff === undefined);
  const [idOf, files] = await together([
    shortIds(
      repository,
      isFull ? commits.flatMap(({ commit, parents = [] }) => [commit, ...parents]) : oids,
    ),
    isStat ? filesOf(repository, oids) : undefined,
  ]);
  return commits.map((whole) => {
    const { commit: oid, author, date, refs, message, diff } = whole;
    const commit = isFull
      ? whole
      : {
          commit: idOf(oid),
          ...(format === "stat" ? { author, date: date.slice(0, 10) } : {}),
          refs,
          message: clip(message.split("\n", 1)[0] ?? "", MAX_SUBJECT),
          ...files?.get(oid),
          diff,
        };
    return { commit, text: blockOf(commit, isFull, idOf) };
  });
}

/** Commits that were found, each with the position in the list after it. */
interface Found {
  readonly found: { readonly commit: Commit; readonly end: number }[];
  /** Where a list goes on that was not read to its end. */
  readonly next?: number | undefined;
  readonly note?: string | undefined;
}

/** The next commits of a list: at least `limit`, unless it ends or the time does. */
async function find(
  repository: Repository,
  query: LogQuery,
  { tips, skip }: z.infer<typeof position>,
  caller: Searcher,
): Promise<Found> {
  const { limit, pickaxe } = query;
  const numbered = (commits: Commit[]) => ({
    found: commits.map((commit, at) => ({ commit, end: skip + at + 1 })),
  });
  const [inside] = query.path === undefined ? [] : await pathsIn(repository, [query.path]);
  if (query.follow && inside === undefined) {
    const hint = "Pass path, the current path of one file; or omit follow.";
    throw failure("bad_argument", "follow needs path, the file to follow.", { hint });
  }
  const filters = await filterArgs(repository, query);
  const limits = [`--max-count=${limit + 1}`, `--skip=${skip}`];
  if (query.lines !== undefined) {
    if (pickaxe)
      throw failure("bad_range", "lines and pickaxe cannot be combined.", {
        hint: "Omit one of them.",
      });
    const range = { path: inside, lines: query.lines, tips };
    return numbered(await lineHistory(repository, range, [...limits, ...filters]));
  }
  if (pickaxe && !query.follow) {
    const what = [`--max-count=${MAX_LISTED}`, `--skip=${skip}`, ...tips, "--", inside];
    const list = await repository.lines(["rev-list", ...filters, ...what], "list the commits");
    return search(repository, list, [`-S${pickaxe}`, "--", inside], skip, limit, caller);
  }
  // Ignoring case would also apply to the pickaxe, which takes the text literally.
  const how = pickaxe ? [...filters.filter((arg) => arg !== IGNORE_CASE), `-S${pickaxe}`] : filters;
  const what = [query.follow ? "--follow" : "--no-follow", ...tips, "--", inside];
  const args = ["log", ...LOG_ARGS, LOG_FORMAT, ...limits, ...how, ...what];
  return numbered(parseLog(await repository.output(args, "read the log")));
}

/**
 * Searches the changes of a list of commits in parts, at least one, so that a long history gives progress and what was found in
 * the time of the call.
 *
 * @param filter arguments that choose commits by their changes
 */
async function search(
  repository: Repository,
  list: readonly string[],
  filter: Arguments,
  skip: number,
  limit: number,
  caller: Searcher,
): Promise<Found> {
  const total = grouped(skip + list.length);
  const until = Date.now() + (caller.leftMs ?? Number.POSITIVE_INFINITY) * SEARCH_SHARE;
  const args = [
    "log",
    ...LOG_ARGS,
    LOG_FORMAT,
    "--no-follow",
    "--no-walk=unsorted",
    "--stdin",
    ...filter,
  ];
  const found: Found["found"] = [];
  let [at, size] = [0, 100];
  while (at < list.length && found.length < limit && (at === 0 || Date.now() < until)) {
    const part = list.slice(at, at + size);
    const input = part.map((oid) => `${oid}\n`).join("");
    for (const commit of parseLog(await repository.output(args, "search the history", { input })))
      found.push({ commit, end: skip + at + part.indexOf(commit.commit) + 1 });
    at += part.length;
    size = Math.min(2 * size, 1_000);
    caller.progress?.(
      skip + at,
      skip + list.length,
      `searched ${grouped(skip + at)} of ${total} commits`,
    );
  }
  if (at === list.length) return { found, next: at === MAX_LISTED ? skip + at : undefined };
  if (found.length >= limit) return { found, next: skip + at };
  const last = ["log", ...LOG_ARGS, "--max-count=1", "--format=%cs", list[at - 1]];
  const day = (await repository.output(last, "read a date")).toString("latin1", 0, 10);
  const note = `Searched ${grouped(skip + at)} of ${total} commits in the time limit, back to ${day}. Continue with the cursor, or narrow with path, start_timestamp or a range.`;
  return { found, next: skip + at, note };
}

/** The object ids that a log starts from: one, or both ends of a range. */
async function tipsOf(repository: Repository, revision: string | undefined): Promise<string[]> {
  if (revision === undefined || revision === "HEAD") {
    const head = await repository.head();
    if (head === undefined) throw noCommits();
    return [head];
  }
  const range = parseRange(revision);
  if (range === undefined) return commitsOf(repository, [revision]);
  const [from = "", to = ""] = await commitsOf(repository, [range.from, range.to]);
  if (!range.symmetric) return [to, `^${from}`];
  const bases = await repository.run(["merge-base", "--all", from, to]);
  const excluded = bases.stdout.toString("utf8").split("\n").filter(Boolean);
  return [from, to, ...excluded.map((oid) => `^${oid}`)];
}

async function filterArgs(repository: Repository, { author, grep, since, until }: LogQuery) {
  return [
    author ? `--author=${author}` : undefined,
    grep ? `--grep=${grep}` : undefined,
    author || grep ? "--extended-regexp" : undefined,
    IGNORE_CASE,
    await dateArg(repository, "since", since),
    await dateArg(repository, "until", until),
  ];
}

/** The words in git's date formats. git ignores all others, so that "5 bananas" would be the 5th. */
const WORDS =
  /^(seconds?|minutes?|hours?|days?|weeks?|months?|years?|ago|now|today|yesterday|noon|midnight|tea|last|never|am|pm|[zt]|utc|gmt|at|on|the|st|nd|rd|th|one|two|three|four|five|six|seven|eight|nine|ten|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*|[a-z]{3,4}t)$/i;
const NOW = /\b(now|today|seconds?|minutes?|tea|noon|midnight)\b/i;

/**
 * git accepts any text as a date and reads nonsense as "now", which would silently give a wrong list. So git is asked how it
 * reads the text, and a result of "now" is refused unless the text says so.
 */
async function dateArg(repository: Repository, name: "since" | "until", text: string | undefined) {
  if (text === undefined) return undefined;
  const isKnown = (text.match(/\p{L}+/gu) ?? []).every((word) => WORDS.test(word));
  const isText = text !== "" && text.length <= 100 && !/[\0\n\r]/.test(text) && isKnown;
  // git reads a day without a time as the current time on that day; here it means the whole day.
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const moment = isDay ? `${text}T${name === "since" ? "00:00:00" : "23:59:59"}` : text;
  const before = Math.floor(Date.now() / 1000);
  const parsed = isText ? await repository.run(["rev-parse", `--${name}=${moment}`]) : undefined;
  const seconds = Number(/=(\d+)/.exec(parsed?.stdout.toString("utf8") ?? "")?.[1] ?? Number.NaN);
  const isNow = seconds >= before && seconds <= Date.now() / 1000;
  if (Number.isNaN(seconds) || (isNow && !NOW.test(text) && !/\d/.test(text)))
    throw failure("bad_date", `${JSON.stringify(text.slice(0, 100))} is not a valid date.`);
  return name === "since" ? `--max-age=${seconds}` : `--min-age=${seconds}`;
}
