import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { clip, digits, manyLines, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { shortId } from "../open/revisions.ts";
import { countOf } from "../run/text.ts";
import { fileLine, parseChanges } from "./changes.ts";

/** How much of a commit is shown. */
export type LogFormat = "oneline" | "full" | "stat";

/** What a log shows of a commit: the id, the subject and the refs in every format. */
export const commitShape = z.object({
  /** Complete in format full, otherwise 10 digits, or more if those are ambiguous. */
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
  /** In format stat, the first files with their lines: `+12 -3 path`, `binary path`. */
  files: z.array(z.string()).optional(),
  /** With lines, how the commit changed them. */
  diff: z.string().optional(),
});
type ShownCommit = z.infer<typeof commitShape>;

/** A commit as git prints it, and how it changed the lines that were asked for. */
export type Commit = ReturnType<typeof commitOfFields> & { readonly diff?: string };

/** Characters; git_show has the rest. */
const MAX_MESSAGE = 1_000;
const MAX_SUBJECT = 200;
/** Of a commit; git_list_refs has the rest. */
const MAX_REFS = 50;
/** How many files of a commit are listed. */
const MAX_FILES = 10;
const FIELDS = ["%H", "%h", "%an", "%ae", "%aI", "%P", "%D", "%B"];
/** Arguments that make `git log` run no programs and ignore the configuration. */
export const LOG_PLAIN = [
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-mailmap"],
  ...["--no-notes", "--abbrev=10", "--encoding=UTF-8"],
];

/** About 800 refs: with more, git would need longer to look up their tags than for everything else. */
const MAX_REFS_BYTES = 64 * 1024;
const TAGS_LEFT_OUT = "Tags are not shown, because there are too many: git_list_refs lists them.";

/**
 * Makes git print commits that can be separated. Nothing in a repository can contain the mark that
 * begins each one, because it is chosen for this call.
 */
export function commitPrinter({ location }: Repository) {
  const mark = randomUUID();
  const packed = statSync(join(location.commonDir, "packed-refs"), { throwIfNoEntry: false });
  const hasMany = (packed?.size ?? 0) > MAX_REFS_BYTES;
  const visibleRefs = hasMany ? ["HEAD", "refs/heads", "refs/remotes"] : [];
  const decorate = visibleRefs.map((name) => `--decorate-refs=${name}`);
  return {
    note: hasMany ? TAGS_LEFT_OUT : undefined,
    /** How many NUL-terminated fields a commit has, with the mark, and what ends it. */
    fields: FIELDS.length + 2,
    isCommit: (output: Buffer) => output.toString("latin1", 0, mark.length) === mark,
    args: [...LOG_PLAIN, ...decorate, `--format=${[mark, ...FIELDS].join("%x00")}%x00`],
    parse: (output: Buffer, maxMessage = MAX_MESSAGE): Commit[] =>
      output
        .toString("utf8")
        .split(`${mark}\0`)
        .slice(1)
        .map((text) => commitOfFields(text.split("\0"), maxMessage)),
  };
}

function commitOfFields(fields: readonly string[], maxMessage: number) {
  const [oid = "", id = "", author = "", email = "", date = "", parents = "", refs = ""] = fields;
  const message = manyLines((fields[FIELDS.length - 1] ?? "").trimEnd());
  const clipped = clip(message, maxMessage);
  const names = refs.split(", ").filter(Boolean);
  const rest = names.splice(MAX_REFS).length;
  if (rest > 0) names.push(`… ${digits(rest)} more`);
  return {
    oid,
    commit: id,
    author: oneLine(author),
    email: oneLine(email),
    // From git 2.45 on Z.
    date: date.replace(/Z$/, "+00:00"),
    parents: parents.includes(" ") ? parents.split(" ") : undefined,
    refs: names.length === 0 ? undefined : names,
    message: clipped.length === message.length ? message : `${clipped}…`,
    /** What git prints after the commit: files, or a patch. */
    rest: fields.slice(FIELDS.length).join("\0"),
  };
}

/** A commit in a format, as data. */
export function shownAs(format: LogFormat, commit: Commit): ShownCommit {
  const { oid, commit: id, author, email, date, parents, refs, message, rest, diff } = commit;
  if (format === "full") return { commit: oid, author, email, date, parents, refs, message };
  const subject = clip(message.split("\n", 1)[0] ?? "", MAX_SUBJECT);
  if (format === "oneline") return { commit: id, refs, message: subject, diff };
  const files = diff === undefined ? filesIn(rest) : undefined;
  const facts = { author, date: date.slice(0, 10), refs, message: subject };
  return { commit: id, ...facts, files, diff };
}

/** The first files that follow a commit in `--numstat -z`; a merge has none, as in git. */
function filesIn(rest: string): string[] | undefined {
  const files = parseChanges(rest.split("\0").map((field) => Buffer.from(field)));
  const lines = files.map((file) => fileLine(file));
  const more = lines.splice(MAX_FILES).length;
  if (more > 0) lines.push(`… ${countOf(more, "more file")}`);
  return lines.length === 0 ? undefined : lines;
}

/**
 * A commit as text. Lines from the repository begin with an id, one of our words or a space, and those
 * of a diff as in a patch, so they cannot imitate the server's lines, which begin with a parenthesis.
 *
 * @param fullId shows the whole message, under this id
 */
export function blockOf(commit: ShownCommit, fullId?: string): string {
  const { author, date, refs, message, files = [], diff } = commit;
  const names = refs === undefined ? "" : `(${refs.map(oneLine).join(", ")})`;
  const line = () =>
    [commit.commit, date, author, names, oneLine(message)].filter(Boolean).join(" ");
  return [
    fullId === undefined ? line() : headerOf({ ...commit, commit: fullId }),
    ...files.map((file) => ` ${file}`),
    ...(diff === undefined ? [] : [diff]),
  ].join("\n");
}

/** A commit's facts and message, in the official server's form. */
export function headerOf(commit: ShownCommit, idOf = shortId): string {
  const { author, email, date, parents = [], refs = [], message } = commit;
  return [
    `Commit: ${commit.commit}`,
    ...(parents.length > 1 ? [`Merge: ${parents.map(idOf).join(" ")}`] : []),
    `Author: ${author} <${email}>`,
    `Date: ${date}`,
    ...(refs.length > 0 ? [`Refs: ${refs.map(oneLine).join(", ")}`] : []),
    `Message: ${indented(message)}`,
  ].join("\n");
}

/** Several lines; all but the first are indented. */
export function indented(text: string): string {
  return text.split("\n").join("\n    ");
}
