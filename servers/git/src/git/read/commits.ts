import { clip, grouped, manyLines, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { counted, groups } from "../run/text.ts";

/** How much of a commit is shown. */
export type LogFormat = "oneline" | "full" | "stat";

/** What a log shows of a commit: the id, the subject and the refs in every format. */
export const commitShape = z.object({
  /** Complete in format full, otherwise 10 digits, or all if those are ambiguous. */
  commit: z.string(),
  author: z.string().optional(),
  email: z.string().optional(),
  /** ISO 8601, the author's; only the day in format stat. */
  date: z.string().optional(),
  /** Two or more for a merge. */
  parents: z.array(z.string()).optional(),
  /** Branches and tags at this commit, as git decorates it: `HEAD -> main`, `tag: v1.0`. */
  refs: z.array(z.string()).optional(),
  message: z.string(),
  /** In format stat, the first files with their lines, as diffs list them: `+12 -3 path`, `binary path`. */
  files: z.array(z.string()).optional(),
  /** How many files changed, if not all are listed. */
  file_count: z.number().optional(),
  /** With lines, how the commit changed them. */
  diff: z.string().optional(),
});
export type ShownCommit = z.infer<typeof commitShape>;

/** A commit as git prints it. */
export interface Commit extends ShownCommit {
  readonly author: string;
  readonly email: string;
  readonly date: string;
}

/** Characters; git_show has the rest. */
const MAX_MESSAGE = 1_000;
/** Of a commit; git_list_refs has the rest. */
const MAX_REFS = 50;
const FIELDS = ["%H", "%an", "%ae", "%aI", "%P", "%D", "%B"];
/** How many fields `LOG_FORMAT` prints. */
export const LOG_FIELDS = FIELDS.length;
/** What `parseLog` reads. */
export const LOG_FORMAT = `--format=${FIELDS.join("%x00")}`;
/** Arguments that make `git log` run no programs and ignore the configuration. */
export const LOG_PLAIN = [
  ...[
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--no-mailmap",
    "--no-notes",
  ],
  ...["--no-abbrev-commit", "--encoding=UTF-8"],
];
/** The same, to print exactly the requested fields. */
export const LOG_ARGS = [...LOG_PLAIN, "--no-patch", "-z"];

/** Reads the fields of `LOG_FORMAT`, each terminated by a NUL. */
export function parseLog(output: Buffer, maxMessage = MAX_MESSAGE): Commit[] {
  return groups(output, LOG_FIELDS).map((fields) => commitOfFields(fields, maxMessage));
}

/** The commit with these fields. */
export function commitOfFields(fields: readonly string[], maxMessage = MAX_MESSAGE): Commit {
  const [commit = "", author = "", email = "", date = "", parents = "", refs = "", body = ""] =
    fields;
  const message = manyLines(body.trimEnd());
  const shown = clip(message, maxMessage);
  return {
    commit,
    author: oneLine(author),
    email: oneLine(email),
    // From git 2.45 on Z.
    date: date.replace(/Z$/, "+00:00"),
    parents: parents.includes(" ") ? parents.split(" ") : undefined,
    refs: refs === "" ? undefined : firstRefs(refs.split(", ")),
    message: shown.length === message.length ? message : `${shown}…`,
  };
}

function firstRefs(refs: readonly string[]): string[] {
  const rest = refs.length - MAX_REFS;
  return [...refs.slice(0, MAX_REFS), ...(rest > 0 ? [`… ${grouped(rest)} more`] : [])];
}

/** How ids are shown. */
type IdOf = (oid: string) => string;

/**
 * A commit as text. Lines from the repository begin with an id, one of our words or a space, and those of a diff as in a patch, so
 * they cannot imitate the server's lines, which begin with a parenthesis.
 */
export function blockOf(commit: ShownCommit, isFull: boolean, idOf: IdOf): string {
  const { author, date, refs, message, files = [], file_count = files.length, diff } = commit;
  const names = refs === undefined ? "" : `(${refs.map(oneLine).join(", ")})`;
  const line = () =>
    [commit.commit, date, author, names, oneLine(message)].filter(Boolean).join(" ");
  const rest = file_count - files.length;
  return [
    isFull ? headerOf(commit, idOf) : line(),
    ...files.map((file) => ` ${file}`),
    ...(rest > 0 ? [` … ${counted(rest, "more file")}`] : []),
    ...(diff === undefined ? [] : [diff]),
  ].join("\n");
}

/** A commit's facts and message, in the official server's form. */
export function headerOf(commit: ShownCommit, idOf: IdOf): string {
  const { author, email, date, parents = [], refs = [], message } = commit;
  return [
    `Commit: ${idOf(commit.commit)}`,
    ...(parents.length > 1 ? [`Merge: ${parents.map(idOf).join(" ")}`] : []),
    `Author: ${author} <${email}>`,
    `Date: ${date}`,
    ...(refs.length > 0 ? [`Refs: ${refs.map(oneLine).join(", ")}`] : []),
    `Message: ${indented(message)}`,
  ].join("\n");
}

/** Several lines, of which all but the first are indented. */
export function indented(text: string): string {
  return text.split("\n").join("\n    ");
}
