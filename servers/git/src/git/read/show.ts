import { cursorsOf, fitting, grouped, manyLines, oneLine, sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Named, Repository } from "../open/repository.ts";
import { checked, commitOf, objectOf } from "../open/revisions.ts";
import { failure } from "../run/errors.ts";
import { counted, fittingLines, pathText, textOf } from "../run/text.ts";
import { headerOf, indented, LOG_ARGS, LOG_FORMAT, parseLog } from "./commits.ts";
import { type DiffFormat, type DiffText, diff } from "./diff.ts";
import { linePager } from "./line-pager.ts";
import { SHALLOW, shallowCommits } from "./log.ts";

interface ShowQuery {
  readonly revision: string;
  readonly context_lines?: number;
  readonly format?: DiffFormat;
  readonly ignore_whitespace?: boolean;
  readonly paths?: readonly string[] | undefined;
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
  readonly cursor?: string | undefined;
}

const linePosition = z.object({ oid: z.string(), line: z.int().min(0) });

/** The empty tree, to compare a root commit with. git knows it even if the repository does not have it. */
export function emptyTree(oid: string): string {
  return oid.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/** Maximum characters of a message: nearly all of the answer, because the patch has a cursor. */
const messageBudget = (budget: number): number => Math.max(1_000, budget - 4_000);

/** Shows an object: a commit with its patch, a tag and its target, a directory, or a file. */
export async function show(
  repository: Repository,
  query: ShowQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const revision = checked(query.revision);
  const format = query.format ?? "patch";
  const [found, parent] = await repository.lookUp([revision, `${revision}^1`]);
  const named = found ?? (await objectOf(repository, revision));
  if (named.type === "commit") return showCommit(named.oid, parent?.oid);
  if (named.type === "tag") return showTag(named);
  return named.type === "tree" ? showTree(named) : showBlob(named);

  async function showCommit(oid: string, first: string | undefined): Promise<DiffText> {
    const boundary = await shallowCommits(repository);
    const max = messageBudget(budget);
    const args = ["log", ...LOG_ARGS, LOG_FORMAT, "--max-count=1", oid, "--"];
    const [commit] = parseLog(await repository.output(args, "read the commit"), max);
    if (commit === undefined) throw new TypeError(`no commit ${oid}`);
    const header = headerOf(commit, (id) => id);
    const parent = first ?? emptyTree(oid);
    const compared = { ...query, format, between: [parent, oid], tool: "git_show" };
    const changes = await diff(repository, compared, { budget: budget - header.length });
    const isCut = first === undefined && boundary?.has(oid);
    const against = isCut
      ? `(${SHALLOW}, so every file appears as new) `
      : (commit.parents ?? []).length > 1
        ? "(compared with the first parent) "
        : "";
    return { body: `${header}\n\n${changes.body}`, facts: `${against}${changes.facts}`.trimEnd() };
  }

  async function showTag(tag: Named): Promise<DiffText> {
    const content = textOf(await repository.content(tag, "read the tag"));
    const [head = "", ...message] = content.split("\n\n");
    const text = message.join("\n\n");
    const value = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(head)?.[1] ?? "";
    const [, tagger = "", seconds] = /^(.*) (\d+) [+-]\d{4}$/.exec(value("tagger")) ?? [];
    const lines = [
      `Tag: ${oneLine(value("tag"))}`,
      ...(tagger === "" ? [] : [`Tagger: ${oneLine(tagger)}`]),
      ...(seconds === undefined ? [] : [`Date: ${new Date(Number(seconds) * 1000).toISOString()}`]),
      `Message: ${indented(manyLines(text.trimEnd()).slice(0, messageBudget(budget)))}`,
      "",
    ].join("\n");
    const shown = { ...query, revision: value("object") };
    const target = await show(repository, shown, { budget: budget - lines.length });
    return { body: `${lines}\n${target.body}`, facts: target.facts };
  }

  async function showTree(tree: Named): Promise<DiffText> {
    const cursors = cursorsOf(
      "git_show",
      [repository.location.gitDir, "tree", tree.oid],
      linePosition,
    );
    const skip = cursors.decode(query.cursor)?.line ?? 0;
    const found = await treeEntries(repository, tree);
    const entries = found.map(({ mode, type, name }) => `${mode} ${type} ${oneLine(name)}`);
    const lines = fittingLines(entries.slice(skip), budget - 500);
    const next = skip + lines.length;
    const rest =
      next < entries.length
        ? `; continue with cursor "${cursors.encode({ oid: tree.oid, line: next })}"`
        : "";
    const shown = `${grouped(lines.length)} of ${counted(entries.length, "entry", "entries")}`;
    return { body: `Tree: ${tree.oid}\n${lines.join("\n")}`, facts: `(${shown}${rest})` };
  }

  async function showBlob(blob: Named): Promise<DiffText> {
    const { start_line = 1, end_line = Number.MAX_SAFE_INTEGER } = query;
    if (end_line < start_line) {
      const hint = "Lines are counted from 1; omit end_line to read to the end.";
      throw failure("bad_range", `end_line ${end_line} comes before start_line ${start_line}.`, {
        hint,
      });
    }
    const range = [repository.location.gitDir, "blob", start_line, end_line];
    const cursors = cursorsOf("git_show", range, linePosition);
    const position = cursors.decode(query.cursor) ?? { oid: blob.oid, line: start_line - 1 };
    const remaining = budget - 500;
    const pager = linePager({
      skip: position.line,
      maxLines: end_line - position.line,
      maxBytes: remaining,
      maxLineBytes: remaining,
    });
    let isBinary = false;
    let isFirst = true;
    await repository.stream({ ...blob, oid: position.oid }, "read the file", (chunk) => {
      // The same test as in git: a NUL in the first 8,000 bytes.
      if (isFirst) isBinary = chunk.subarray(0, 8_000).includes(0);
      isFirst = false;
      return !isBinary && pager.take(chunk);
    });
    const size = sized(blob.size);
    if (isBinary) return { body: `Blob: ${position.oid}`, facts: `(binary file, ${size})` };
    const page = pager.page();
    const last = position.line + page.lines.length;
    const isRest = page.more && last < end_line;
    const rest = isRest
      ? `; continue with cursor "${cursors.encode({ oid: position.oid, line: last })}"`
      : "";
    const cut = page.cutLines > 0 ? `; ${counted(page.cutLines, "very long line")} cut` : "";
    const lines =
      page.lines.length === 0 ? "no lines in this range" : `lines ${position.line + 1} to ${last}`;
    return {
      body: `Blob: ${position.oid}\n${page.lines.map(textOf).join("\n")}`,
      facts: `(${lines}, file of ${size}${cut}${rest})`,
    };
  }
}

/** What a tree contains; the name of a directory ends in a slash. */
async function treeEntries(repository: Repository, tree: Named) {
  const content = await repository.content(tree, "read the directory");
  const entries: { mode: string; type: string; name: string }[] = [];
  // `mode SP name NUL oid`
  for (let start = 0, end = 0; start < content.length; start = end + 1 + tree.oid.length / 2) {
    const space = content.indexOf(32, start);
    end = content.indexOf(0, space);
    const mode = content.toString("latin1", start, space).padStart(6, "0");
    if (space === -1 || end === -1 || !/^[0-7]{6}$/.test(mode))
      throw failure("missing_object", `The directory ${tree.oid} is damaged.`);
    const type = { "040000": "tree", "160000": "commit" }[mode] ?? "blob";
    entries.push({
      mode,
      type,
      name: `${pathText(content.subarray(space + 1, end))}${type === "tree" ? "/" : ""}`,
    });
  }
  return entries;
}

type FileKind = "tracked" | "untracked" | "ignored";

interface FilesQuery {
  readonly kind: FileKind;
  readonly revision?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const KINDS: Readonly<Record<FileKind, readonly string[]>> = {
  tracked: ["--cached", "--deduplicate"],
  untracked: ["--others", "--exclude-standard"],
  ignored: ["--others", "--ignored", "--exclude-standard"],
};
const filesPosition = z.object({ oid: z.string().optional(), skip: z.int().min(0) });

/**
 * Lists the files of the working tree by kind, or those of a commit. git is stopped when the page is full, so that a tree with
 * 10^10 files (a git bomb) costs no more than a small one.
 */
export async function listFiles(repository: Repository, query: FilesQuery, { budget }: Budget) {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { cursor, limit, ...rest } = query;
  const cursors = cursorsOf("git_list_files", [repository.location.gitDir, rest], filesPosition);
  const given = cursors.decode(cursor);
  const skip = given?.skip ?? 0;
  const oid = await searchedCommit(repository, query.revision, given);
  const where = paths.filter((path) => path !== ".");
  const args =
    oid === undefined
      ? ["ls-files", "-z", ...KINDS[query.kind], "--", ...where]
      : ["ls-tree", "-r", "-z", "--name-only", "--full-tree", oid, "--", ...where];
  const maxBytes = Number.MAX_SAFE_INTEGER;
  const pager = linePager({
    skip,
    maxLines: limit,
    maxBytes,
    maxLineBytes: maxBytes,
    separator: 0,
  });
  await repository.output(args, "list the files", {
    onStdout: (chunk) => pager.take(chunk),
    maxBytes,
  });
  const { lines, more } = pager.page();
  const files = lines.map(pathText);
  const count = fitting(files, budget - 300);
  return {
    files: files.slice(0, count),
    ...(more || files.length > count
      ? { next_cursor: cursors.encode({ oid, skip: skip + count }) }
      : {}),
  };
}

/** The commit to search: the cursor's, or that of a revision; undefined for the working tree. */
export async function searchedCommit(
  repository: Repository,
  revision: string | undefined,
  given: { readonly oid?: string | undefined } | undefined,
): Promise<string | undefined> {
  const isFirst = given === undefined && revision !== undefined;
  const oid = isFirst ? await commitOf(repository, revision) : given?.oid;
  if (oid === undefined) await repository.worktree();
  return oid;
}
