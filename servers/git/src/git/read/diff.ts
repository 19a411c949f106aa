import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { clip, cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { checkRevisions } from "../open/revisions.ts";
import { failure } from "../run/errors.ts";
import { countOf, fittingLines, linesAt, nulEnded, records } from "../run/text.ts";
import {
  comparing,
  DIFF_ARGS,
  type FileChange,
  FROM_STDIN,
  fileLine,
  LIST_CHANGES,
  parseChanges,
  totalOf,
} from "./changes.ts";
import { commitPrinter, headerOf, shownAs } from "./commits.ts";
import { FILE_START, hunksIn } from "./patch.ts";
import { isShallow, SHALLOW } from "./status.ts";

export interface DiffQuery {
  /**
   * What to compare: `--cached`, or revisions, or nothing for the working tree with the index.
   */
  readonly between: readonly string[];
  /** The revisions among these, for errors. */
  readonly revisions?: readonly string[];
  /** Compare this commit with its first parent instead, and begin with its message. */
  readonly commit?: string;
  /** What is shown instead if that is not a commit. */
  readonly otherwise?: (() => Promise<DiffText>) | undefined;
  readonly context_lines?: number;
  readonly paths?: readonly string[] | undefined;
  readonly format?: "patch" | "stat";
  readonly ignore_whitespace?: boolean;
  readonly include_untracked?: boolean;
  readonly cursor?: string | undefined;
  /** Whether the hunks show the ids that git_add, git_reset and git_restore take. */
  readonly hunk_ids?: boolean;
  /** The tool that the cursors belong to. */
  readonly tool: string;
}

/** A diff as text, and one line about it from the server. */
export interface DiffText {
  readonly body: string;
  readonly facts: string;
  /** For people who see it as files: the patch ends the body. */
  readonly view?: { readonly length: number; readonly [fact: string]: unknown };
}

/** Of a patch or a file, which is in memory as a whole. */
export const MAX_READ_BYTES = 32 * 1024 * 1024;
/** The byte of the patch, or the file of the list, that comes next. */
const position = z.object({ digest: z.string(), at: z.int().min(0) });

/**
 * A diff within the budget: whole files as long as they fit, a larger one by hunks, and a cursor for
 * the rest, which is bound to the object ids and the changes, so that all pages belong to the same
 * diff.
 *
 * @throws ToolError `bad_revision`, `no_merge_base`, `stale_cursor`
 */
export async function diff(
  repository: Repository,
  query: DiffQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { between, context_lines: context = 3, format = "patch" } = query;
  const { ignore_whitespace = false, include_untracked = false } = query;
  const scope = [between, context, paths, format, ignore_whitespace, include_untracked];
  const cursors = cursorsOf(query.tool, [repository.location.gitDir, scope], position);
  const printer = commitPrinter(repository);
  const read = async (env: Readonly<Record<string, string>>) => {
    if (include_untracked) await addUntracked(repository, paths, env);
    return readDiff(repository, { ...query, paths }, env, printer);
  };
  const { files, digest, patch, fields, isCut } = await (query.commit === undefined
    ? comparing(repository, between, read)
    : read({}));
  if (query.otherwise !== undefined && fields.length === 0) return query.otherwise();
  const start = cursors.decode(query.cursor);
  const at = start?.at ?? 0;
  if (start !== undefined && start.digest !== digest)
    throw failure("stale_cursor", "The changes are different from those of the cursor.");
  const [commit] = printer.parse(fields, Math.max(1_000, budget - 4_000));
  const header =
    commit === undefined ? "" : `${headerOf(shownAs("full", commit), (oid) => oid)}\n\n`;
  const remaining = budget - 700 - header.length;
  const isPatch = format === "patch";
  // Without context, or ignoring whitespace, git compares in another way.
  const hasIds = query.hunk_ids === true && context > 0 && !ignore_whitespace;
  const isLong = isPatch && at === 0 && patch.length > remaining;
  const list = isLong ? `${listPage(files, 0, Math.min(4_000, remaining / 4)).text}\n\n` : "";
  const page = isPatch
    ? patchPage(patch, hasIds ? context : undefined, at, remaining - list.length)
    : listPage(files, at, remaining);
  const cursor = page.next === undefined ? undefined : cursors.encode({ digest, at: page.next });
  const remarks = [
    (commit?.parents ?? []).length > 1 && "compared with the first parent",
    commit !== undefined && isShallow(repository) && `${SHALLOW}; its first commits add every file`,
    commit && printer.note?.slice(0, -1),
    isPatch && totalOf(files),
    page.cut > 0 && `${countOf(page.cut, "very long line")} cut`,
    isCut && "only the first 32 MiB",
  ].filter(Boolean);
  const more = cursor !== undefined && `continue with cursor "${cursor}" or narrow with paths`;
  const facts = [...remarks, more].filter(Boolean);
  const body = isPatch ? page.text : [totalOf(files), page.text].join("\n").trimEnd();
  const { length } = page.text;
  const view = { length, remark: remarks.join("; "), files: isLong ? files : [], cursor };
  return {
    body: header + list + body,
    facts: facts.length === 0 ? "" : `(${facts.join("; ")})`,
    ...(isPatch ? { view } : {}),
  };
}

/** Runs the comparison: a commit's fields, the changed files, a digest of both sides, and the patch. */
async function readDiff(
  repository: Repository,
  query: DiffQuery,
  env: Readonly<Record<string, string>>,
  printer: ReturnType<typeof commitPrinter>,
) {
  const { between, revisions = [], paths = [], context_lines = 3, format = "patch" } = query;
  const ignores = query.ignore_whitespace === true;
  const ofCommit = ["show", ...printer.args, "--diff-merges=first-parent"];
  const command = query.commit === undefined ? ["diff"] : ofCommit;
  const which = between[0] === "--cached" ? between : ["--end-of-options", ...between];
  const patchArgs = format === "patch" ? ["--patch", `--unified=${context_lines}`] : [];
  const run = async (...args: string[]) => {
    const how = [...DIFF_ARGS, ignores && "--ignore-all-space", ...args];
    const all = [...command, ...how, ...which, "--", ...paths];
    // The first commit of a history shows all of its files as new.
    const config = [["log.showRoot", "true"]] as const;
    const result = await repository.run(all, { env, config, maxBytes: MAX_READ_BYTES });
    await checkRevisions(repository, result, revisions, "compare");
    return result;
  };
  const { stdout, cut } = await run(...LIST_CHANGES, ...patchArgs);
  if (query.otherwise !== undefined && !printer.isCommit(stdout))
    return { files: [], digest: "", patch: stdout, fields: Buffer.alloc(0), isCut: cut };
  let begin = 0;
  if (query.commit !== undefined)
    for (let count = 0; count < printer.fields; count++) begin = stdout.indexOf(0, begin) + 1;
  const fields = stdout.subarray(0, begin);
  // The list ends with an empty record.
  const end = stdout.indexOf("\0\0", begin, "latin1");
  const list = end === -1 ? stdout.subarray(begin) : stdout.subarray(begin, end + 1);
  const all = parseChanges(records(list.subarray(list[0] === 10 ? 1 : 0)));
  // git leaves files in conflict out of a patch that follows a list.
  const hasConflicts = format === "patch" && all.some(({ letter }) => letter === "U");
  const patch = hasConflicts
    ? (await run(...patchArgs)).stdout
    : stdout.subarray(end === -1 ? stdout.length : end + 2);
  // If only whitespace differs, git counts no lines and omits the file from the patch.
  const isOmitted = ({ letter, added, deleted }: FileChange) =>
    ignores && letter === "M" && added === 0 && deleted === 0;
  const digest = createHash("sha256").update(list).digest("base64url").slice(0, 16);
  return { files: all.filter((file) => !isOmitted(file)), digest, patch, fields, isCut: cut };
}

/** Adds untracked files that are not ignored to a copy of the index: a diff shows them as new. */
export async function addUntracked(
  repository: Repository,
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const list = ["ls-files", "--others", "--exclude-standard", "-z", "--", ...paths];
  const untracked = records(await repository.output(list, "list the untracked files", { env }));
  // A name that ends in a slash is a nested repository.
  const input = nulEnded(untracked.filter((path) => path.at(-1) !== 47));
  if (input.length === 0) return;
  // git writes an empty object for --intent-to-add, which must not go into the repository.
  const objects = `${env.GIT_INDEX_FILE}-objects`;
  await mkdir(objects);
  const options = { env: { ...env, GIT_OBJECT_DIRECTORY: objects }, input };
  const add = ["add", "--intent-to-add", ...FROM_STDIN];
  await repository.output(add, "look at the untracked files", options);
}

/**
 * As many whole files from a byte of the patch on as fit; if the first one does not, as many of its
 * hunks or lines as fit. A page that begins within a file repeats the header of the file. Ids are at the end of the hunks' headers, where programs that apply patches ignore them.
 */
function patchPage(patch: Buffer, context: number | undefined, start: number, budget: number) {
  const ids = new Map<number, string>();
  if (context !== undefined) for (const { at, id } of hunksIn(patch, context)) ids.set(at, id);
  const maxLine = Math.max(500, Math.floor(budget / 4));
  const markOf = (at: number) => (ids.get(at) ? ` [${ids.get(at)}]` : "");
  const file = FILE_START.test(patch.toString("latin1", start, start + 20))
    ? start
    : patch.lastIndexOf("\ndiff --", start) + 1;
  const header = patch.toString("utf8", file, Math.min(start, patch.indexOf("\n@@", file) + 1));
  const { lines, end } = linesAt(patch, start, budget - header.length, maxLine, markOf);
  const isRest = end < patch.length;
  // It ends best before the last file, else before the last hunk.
  const last = lines.findLastIndex(({ text }) => FILE_START.test(text));
  const hunk = lines.findLastIndex(({ text }) => text.startsWith("@@"));
  const count = last > 0 ? last : hunk > lines.length / 2 ? hunk : lines.length;
  const pageLines = isRest ? lines.slice(0, count) : lines;
  return {
    text: header + pageLines.map(({ text }) => text).join("\n"),
    next: isRest ? (lines[count]?.at ?? end) : undefined,
    cut: pageLines.filter(({ isCut }) => isCut).length,
  };
}

function listPage(files: readonly FileChange[], start: number, budget: number) {
  const lines = files.slice(start).map((file) => clip(fileLine(file), 2_000));
  const pageLines = fittingLines(lines, budget);
  const next = pageLines.length < lines.length ? start + pageLines.length : undefined;
  return { text: pageLines.join("\n"), next, cut: 0 };
}
