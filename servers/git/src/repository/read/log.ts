import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, cursorsOf, fitting, manyLines, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { commitsOf, parseRange } from "../open/revisions.ts";
import { failure, noCommits } from "../run/errors.ts";
import { groups } from "../run/text.ts";
import { decorations, walk } from "./commit-walk.ts";

export const commitShape = z.object({
  commit: z.string(),
  author: z.string(),
  email: z.string(),
  /** ISO 8601, the author's. */
  date: z.string(),
  /** Two or more for a merge. */
  parents: z.array(z.string()).optional(),
  /** Branches and tags at this commit, as git decorates it: `HEAD -> main`, `tag: v1.0`. */
  refs: z.array(z.string()).optional(),
  message: z.string(),
});
type Commit = z.infer<typeof commitShape>;

interface LogQuery {
  limit: number;
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

/** Characters; git_show has the rest. */
const MAX_MESSAGE = 1_000;
const FIELDS = ["%H", "%an", "%ae", "%aI", "%P", "%D", "%B"];
/** What `parseLog` reads. */
export const LOG_FORMAT = `--format=${FIELDS.join("%x00")}`;
/** Arguments that make `git log` print exactly the requested fields and run no programs. */
export const LOG_ARGS = [
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-mailmap", "--no-notes"],
  ...["--no-patch", "--no-abbrev-commit", "--encoding=UTF-8", "-z"],
];
const position = z.object({ tips: z.array(z.string().regex(/^\^?[0-9a-f]{40,64}$/)), skip: z.int().min(0) });

export const SHALLOW = "The history is shallow: older commits are missing";

/** The commits of a shallow clone whose parents are missing; undefined if the history is complete. */
export async function shallowCommits(repository: Repository): Promise<ReadonlySet<string> | undefined> {
  const text = await readFile(join(repository.location.commonDir, "shallow"), "utf8").catch(() => "");
  const oids = text.split("\n").filter(Boolean);
  return oids.length === 0 ? undefined : new Set(oids);
}

/**
 * Commits, newest first. The cursor contains object ids, so that the next page continues the same list even if the branch has
 * moved.
 */
export async function log(repository: Repository, query: LogQuery, { budget }: Budget) {
  const { limit, cursor, ...filters } = query;
  const cursors = cursorsOf("git_log", [repository.location.gitDir, filters], position);
  const { tips, skip } = cursors.decode(cursor) ?? {
    tips: await tipsOf(repository, query.revision),
    skip: 0,
  };
  const boundary = await shallowCommits(repository);
  const { revision: _, ...choosing } = filters;
  const isPlain = tips.length === 1 && Object.values(choosing).every((value) => !value);
  const walked = isPlain
    ? await walk(repository, tips[0] ?? "", { skip, limit: limit + 1 }, boundary)
    : undefined;
  const limits = [`--max-count=${limit + 1}`, `--skip=${skip}`];
  const read = async () => {
    const refsOf = await decorations(repository, boundary);
    const format = refsOf === undefined ? LOG_FORMAT : LOG_FORMAT.replace("%D", "");
    const args = ["log", ...LOG_ARGS, format, ...limits, ...(await filterArgs(repository, query, tips))];
    const printed = groups(await repository.output(args, "read the log"), FIELDS.length);
    return refsOf === undefined ? printed : printed.map((fields) => fields.with(5, refsOf(fields[0] ?? "")));
  };
  const found = (walked ?? (await read())).map((fields) => commitOfFields(fields));
  const count = Math.min(limit, fitting(found, budget - 500));
  const commits = found.slice(0, count);
  const isRest = found.length > count;
  const isCut = boundary !== undefined && (!isRest || commits.some(({ commit }) => boundary.has(commit)));
  const note = `${SHALLOW}. A change that seems to come from the oldest one here may be older.`;
  return {
    commits,
    ...(isCut ? { notes: [note] } : {}),
    ...(isRest ? { next_cursor: cursors.encode({ tips, skip: skip + count }) } : {}),
  };
}

/** Reads the fields of `LOG_FORMAT`, each terminated by a NUL. */
export function parseLog(output: Buffer, maxMessage = MAX_MESSAGE): Commit[] {
  return groups(output, FIELDS.length).map((fields) => commitOfFields(fields, maxMessage));
}

/** The commit with these fields. */
export function commitOfFields(fields: readonly string[], maxMessage = MAX_MESSAGE): Commit {
  const [commit = "", author = "", email = "", date = "", parents = "", refs = "", body = ""] = fields;
  const message = manyLines(body.trimEnd());
  const shown = clip(message, maxMessage);
  return {
    commit,
    author: oneLine(author),
    email: oneLine(email),
    // From git 2.45 on Z.
    date: date.replace(/Z$/, "+00:00"),
    parents: parents.includes(" ") ? parents.split(" ") : undefined,
    refs: refs === "" ? undefined : refs.split(", "),
    message: shown.length === message.length ? message : `${shown}…`,
  };
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

async function filterArgs(repository: Repository, query: LogQuery, tips: readonly string[]) {
  const { author, grep, pickaxe, path, follow } = query;
  const [inside] = path === undefined ? [] : await pathsIn(repository, [path]);
  if (follow && inside === undefined) {
    const hint = "Pass path, the current path of one file; or omit follow.";
    throw failure("bad_argument", "follow is true, but there is no path to follow.", { hint });
  }
  return [
    author ? `--author=${author}` : undefined,
    grep ? `--grep=${grep}` : undefined,
    author || grep ? "--extended-regexp" : undefined,
    // Ignoring case would also apply to the pickaxe, which takes the text literally.
    pickaxe ? `-S${pickaxe}` : "--regexp-ignore-case",
    await dateArg(repository, "since", query.since),
    await dateArg(repository, "until", query.until),
    follow ? "--follow" : "--no-follow",
    ...tips,
    "--",
    inside,
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
