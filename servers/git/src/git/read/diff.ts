import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { clip, cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Arguments } from "../open/machine.ts";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { checkRevisions } from "../open/revisions.ts";
import { failure } from "../run/errors.ts";
import { counted, fittingLines, nulEnded, records, textOf } from "../run/text.ts";
import {
  comparing,
  DIFF_ARGS,
  type FileChange,
  FROM_STDIN,
  fileLine,
  isOfFiles,
  LIST_CHANGES,
  parseChanges,
  totalOf,
} from "./changes.ts";
import { commitPrinter, headerOf, LOG_PLAIN, shownAs } from "./commits.ts";
import { filterNote } from "./filters.ts";
import { type LinePage, LinePager } from "./line-pager.ts";
import { type Hunk, PatchReader } from "./patch.ts";

export type DiffFormat = "patch" | "stat" | "name_status";

interface DiffQuery {
  /**
   * What to compare: `--cached`, or revisions, or nothing for the working tree with the index.
   */
  readonly between: readonly string[];
  /** The revisions among these, for errors. */
  readonly revisions?: readonly string[];
  /** Compare this commit with its first parent instead, and begin with its message. */
  readonly commit?: string;
  readonly context_lines?: number;
  readonly paths?: readonly string[] | undefined;
  readonly format?: DiffFormat;
  readonly ignore_whitespace?: boolean;
  readonly include_untracked?: boolean;
  readonly cursor?: string | undefined;
  /** Whether the hunks show the ids that git_add, git_reset, git_restore and git_commit take. */
  readonly hunk_ids?: boolean;
  /** The tool that the cursors belong to. */
  readonly tool: string;
}

/** A diff as text, and one line about it from the server. */
export interface DiffText {
  readonly body: string;
  readonly facts: string;
  /** How many parents the commit has that is shown. */
  readonly parents?: number;
}

const position = z.object({ digest: z.string(), line: z.int().min(0) });
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/**
 * A diff within the budget: whole files as long as they fit, a larger one by hunks, and a cursor for
 * the rest. One process prints the files and the patch. The cursor is bound to the object ids and the
 * changes, so that all pages belong to the same diff.
 *
 * @throws ToolError `bad_revision`, `no_merge_base`, `stale_cursor`
 */
export async function diff(
  repository: Repository,
  query: DiffQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { between, context_lines = 3, format = "patch" } = query;
  const { ignore_whitespace = false, include_untracked = false } = query;
  const scope = { between, context_lines, paths, format, ignore_whitespace, include_untracked };
  const cursors = cursorsOf(query.tool, [repository.location.gitDir, scope], position);
  const start = cursors.decode(query.cursor);
  const skip = start?.line ?? 0;
  const printer = commitPrinter();
  const read = async (env: Readonly<Record<string, string>>) => {
    if (include_untracked) await addUntracked(repository, paths, env);
    const pager = patchPager(skip, budget - 700);
    return readDiff(repository, { ...query, paths }, env, pager, printer);
  };
  const {
    files,
    digest,
    page,
    header: fields,
  } = await (query.commit === undefined ? comparing(repository, between, read) : read({}));
  const [commit] = printer.parse(fields, Math.max(1_000, budget - 4_000));
  const header = commit === undefined ? "" : `${headerOf(shownAs("full", commit), same)}\n\n`;
  const remaining = budget - 700 - header.length;
  if (start !== undefined && start.digest !== digest) {
    const changed = "The changes are different from those the cursor was created for.";
    throw failure("stale_cursor", changed);
  }
  const names = () => nulEnded(files.map(({ path }) => path));
  const note =
    query.commit === undefined && isOfFiles(between)
      ? await filterNote(repository, names, "as stored on disk; they may actually be unchanged")
      : undefined;
  const isPatch = format === "patch";
  const { text, next } = isPatch
    ? patchPart(page, files, skip, remaining)
    : listPart(files, format, skip, remaining);
  const cursor = next === undefined ? undefined : cursors.encode({ digest, line: next });
  const facts = [
    isPatch && totalOf(files),
    page.cutLines > 0 && `${counted(page.cutLines, "very long line")} cut`,
    cursor !== undefined && `continue with cursor "${cursor}" or narrow with paths`,
    note?.replace(/\.$/, ""),
  ].filter(Boolean);
  const body = isPatch ? text : [totalOf(files), text].join("\n").trimEnd();
  return {
    body: header + body,
    parents: commit?.parents?.length ?? 1,
    facts: facts.length === 0 ? "" : `(${facts.join("; ")})`,
  };
}

const same = (oid: string) => oid;

/** Whether a comparison finds anything. */
export async function hasChanges(
  repository: Repository,
  between: readonly string[],
): Promise<boolean> {
  return comparing(repository, between, async (env) => {
    const how = ["--quiet", "--no-ext-diff", "--ignore-submodules=dirty"];
    return (await repository.run(["diff", ...how, ...between, "--"], { env })).code === 1;
  });
}

/** Runs the comparison: the changed files, a digest of both sides, and a page of the patch. */
async function readDiff(
  repository: Repository,
  query: DiffQuery,
  env: Readonly<Record<string, string>>,
  pager: LinePager,
  printer: ReturnType<typeof commitPrinter>,
) {
  const { between, revisions = [], paths = [], context_lines = 3, format = "patch" } = query;
  const ignores = query.ignore_whitespace === true;
  const how = [...DIFF_ARGS, ignores && "--ignore-all-space"];
  const context = `--unified=${context_lines}`;
  const isPatch = format === "patch";
  // Other lines of the same files would be compared, or compared in another way.
  const hasIds = query.hunk_ids === true && isPatch && context_lines > 0 && !ignores;
  const patch = () => (hasIds ? withIds(pager) : pager);
  const ofCommit = ["show", ...LOG_PLAIN, printer.format, "--diff-merges=first-parent"];
  const command = query.commit === undefined ? ["diff"] : ofCommit;
  const which = between[0] === "--cached" ? between : ["--end-of-options", ...between];
  const run = async (args: Arguments, onStdout: (chunk: Buffer) => boolean) => {
    const options = { env, onStdout, maxBytes: Number.MAX_SAFE_INTEGER, config: SHOW_ROOT };
    const all = [...command, ...how, ...args, ...which, "--", ...paths];
    const result = await repository.run(all, options);
    if (/: no merge base$/m.test(result.stderr))
      throw failure("no_merge_base", `${revisions.join(" and ")} have no common commit.`);
    await checkRevisions(repository, result, revisions, "compare");
  };
  const head = new ListHead(patch(), query.commit === undefined ? 0 : printer.fields);
  await run([...LIST_CHANGES, ...(isPatch ? ["--patch", context] : [])], (chunk) =>
    head.take(chunk),
  );
  head.end();
  const all = head.files();
  // git leaves files in conflict out of a patch that follows a list.
  if (isPatch && all.some(({ letter }) => letter === "U")) {
    pager.reset();
    const whole = patch();
    await run(["--patch", context], (chunk) => whole.take(chunk));
    whole.end();
  }
  // If only whitespace differs, git counts no lines and omits the file from the patch.
  const isOmitted = ({ letter, added, deleted }: FileChange) =>
    ignores && letter === "M" && added === 0 && deleted === 0;
  const files = all.filter((file) => !isOmitted(file));
  return { files, digest: head.digest(), page: pager.page(), header: head.header() };
}

/** The first commit of a history shows all of its files as new. */
const SHOW_ROOT = [["log.showRoot", "true"]] as const;

interface Taker {
  /** Returns false to stop git. */
  take(chunk: Buffer): boolean;
  end(): void;
}

/**
 * Keeps the fields of a commit, if it is one, and the records of `LIST_CHANGES`, which end with an
 * empty one, and passes the patch on.
 */
class ListHead implements Taker {
  readonly #patch: Taker;
  /** How many fields of the commit are still to come. */
  #fields: number;
  #header = Buffer.alloc(0);
  #head = Buffer.alloc(0);
  #isComplete = false;

  constructor(patch: Taker, fields: number) {
    this.#patch = patch;
    this.#fields = fields;
  }

  take(chunk: Buffer): boolean {
    if (this.#isComplete) return this.#patch.take(chunk);
    if (this.#fields > 0) return this.#takeHeader(chunk);
    const from = Math.max(0, this.#head.length - 1);
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf("\0\0", from, "latin1");
    if (end === -1) return this.#head.length < MAX_LIST_BYTES;
    const patch = this.#head.subarray(end + 2);
    this.#head = this.#head.subarray(0, end + 1);
    this.#isComplete = true;
    return patch.length === 0 || this.#patch.take(patch);
  }

  /** A commit's fields, then an empty one and a line break if changes follow. */
  #takeHeader(chunk: Buffer): boolean {
    let end = 0;
    while (this.#fields > 0) {
      const nul = chunk.indexOf(0, end);
      if (nul === -1) break;
      end = nul + 1;
      this.#fields--;
    }
    const isWhole = this.#fields === 0;
    this.#header = Buffer.concat([this.#header, isWhole ? chunk.subarray(0, end) : chunk]);
    return !isWhole || end === chunk.length || this.take(chunk.subarray(end));
  }

  end(): void {
    this.#patch.end();
  }

  header(): Buffer {
    return this.#header;
  }

  files(): FileChange[] {
    const start = this.#head[0] === 10 ? 1 : 0;
    return parseChanges(records(this.#head.subarray(start)));
  }

  digest(): string {
    return createHash("sha256").update(this.#head).digest("base64url").slice(0, 16);
  }
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

/** Maximum ids in a hunk's header. With fewer lines of context, hunks have fewer changes. */
const MAX_SHOWN = 20;

/**
 * Adds ids to the hunks' headers, where programs that apply patches ignore them:
 * `@@ -1,5 +1,7 @@ function f() [3fa01c2]`.
 */
function withIds(pager: LinePager): Taker {
  let wantsMore = true;
  const pass = (line: Buffer) => {
    wantsMore = wantsMore && pager.take(line);
  };
  const reader = new PatchReader({
    line: pass,
    hunk({ header, lines, changes }: Hunk) {
      const ids = changes.slice(0, MAX_SHOWN).map(({ id }) => id);
      if (changes.length > MAX_SHOWN) ids.push(`… ${changes.length - MAX_SHOWN} more`);
      const suffix = ids.length === 0 ? "\n" : ` [${ids.join(" ")}]\n`;
      pass(Buffer.concat([header.subarray(0, -1), Buffer.from(suffix)]));
      lines.forEach(pass);
    },
  });
  return {
    take(chunk) {
      reader.add(chunk);
      return wantsMore;
    },
    end: () => reader.end(),
  };
}

/** Whether a line of a patch begins a file. Content begins with a space, `+`, `-` or `\`. */
const isFileStart = (line: string) => /^(diff --|\* Unmerged path)/.test(line);

/** A page of lines. A character may have three bytes; the result is then cut by characters. */
const patchPager = (skip: number, budget: number): LinePager =>
  new LinePager({
    skip,
    maxLines: Number.MAX_SAFE_INTEGER,
    maxBytes: budget * 3,
    maxLineBytes: Math.max(500, Math.floor(budget / 4)),
  });

/** A text, and where to continue; undefined at the end. */
type Part = { text: string; next: number | undefined };

/**
 * As many complete files of a page as fit; if the first one does not, as many of its hunks or lines
 * as fit. The first page of a patch over the budget starts with the counts of all files.
 */
function patchPart(
  page: LinePage,
  files: readonly FileChange[],
  skip: number,
  remaining: number,
): Part {
  const lines = page.lines.map(textOf);
  const whole = lines.join("\n");
  if (!page.more && whole.length <= remaining) return { text: whole, next: undefined };
  const summary = skip === 0 ? summaryOf(files, Math.floor(remaining / 4)) : "";
  const fitted = fittingLines(lines, remaining - summary.length);
  const isRest = page.more || fitted.length < lines.length;
  const shown = isRest ? fitted.slice(0, endOfPart(fitted)) : fitted;
  const text = [...(summary === "" ? [] : [summary]), ...shown].join("\n");
  return { text, next: isRest ? skip + shown.length : undefined };
}

/** Where lines that fit end best: before the last file, else before the last hunk. */
function endOfPart(lines: readonly string[]): number {
  const file = lines.findLastIndex(isFileStart);
  if (file > 0) return file;
  const hunk = lines.findLastIndex((line) => line.startsWith("@@"));
  return hunk > lines.length / 2 ? hunk : lines.length;
}

function summaryOf(files: readonly FileChange[], remaining: number): string {
  const lines = files.map((file) => fileLine(file));
  const shown = fittingLines(lines, remaining);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 ? [`… and ${counted(rest, "more file")}`] : []), ""].join("\n");
}

function listPart(
  files: readonly FileChange[],
  format: "stat" | "name_status",
  skip: number,
  remaining: number,
): Part {
  const lines = files
    .slice(skip)
    .map((file) => clip(fileLine(file, format === "stat" ? undefined : file.letter), 2_000));
  const shown = fittingLines(lines, remaining);
  const next = shown.length < lines.length ? skip + shown.length : undefined;
  return { text: shown.join("\n"), next };
}
