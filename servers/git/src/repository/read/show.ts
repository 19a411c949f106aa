import { cursorsOf, fitting, grouped, manyLines, oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { SHALLOW, shallowCommits } from "../open/partial.ts";
import type { Named, Repository } from "../open/repository.ts";
import { checked, objectOf } from "../open/revisions.ts";
import { counted, textOf } from "../run/text.ts";
import { treeEntries } from "./contents.ts";
import { type DiffFormat, type DiffText, diff } from "./diff.ts";
import { LinePager } from "./line-pager.ts";
import { LOG_ARGS, LOG_FORMAT, parseLog } from "./log.ts";

interface ShowQuery {
  readonly revision: string;
  readonly context_lines?: number;
  readonly format?: DiffFormat;
  readonly ignore_whitespace?: boolean;
  readonly paths?: readonly string[] | undefined;
  /** First and last line of a file, from 1. */
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
  readonly cursor?: string | undefined;
}

const linePosition = z.object({ oid: z.string(), line: z.int().min(0) });

/** Shows an object: a commit with its patch, a tag and its target, a directory, or a file. */
export async function show(repository: Repository, query: ShowQuery, budget: number): Promise<DiffText> {
  const revision = checked(query.revision);
  const [found, parent] = await repository.lookUp([revision, `${revision}^1`]);
  const named = found ?? (await objectOf(repository, revision));
  if (named.type === "commit") return showCommit(repository, named.oid, parent?.oid, query, budget);
  if (named.type === "tag") return showTag(repository, named, query, budget);
  if (named.type === "tree") return showTree(repository, named, query, budget);
  return showBlob(repository, named, query, budget);
}

/** The empty tree, to compare a root commit with. git knows it even if the repository does not have it. */
export function emptyTree(oid: string): string {
  return oid.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/** Maximum characters of a message: nearly all of the answer, because the patch has a cursor. */
const messageBudget = (budget: number): number => Math.max(1_000, budget - 4_000);

async function showCommit(
  repository: Repository,
  oid: string,
  first: string | undefined,
  query: ShowQuery,
  budget: number,
): Promise<DiffText> {
  const output = await repository.output(
    ["log", ...LOG_ARGS, LOG_FORMAT, "--max-count=1", oid, "--"],
    "read the commit",
  );
  const [commit] = parseLog(output, messageBudget(budget));
  if (commit === undefined) throw new TypeError(`no commit ${oid}`);
  const parents = commit.parents ?? [];
  const header = [
    `Commit: ${oid}`,
    ...(parents.length > 1 ? [`Merge: ${parents.join(" ")}`] : []),
    `Author: ${commit.author} <${commit.email}>`,
    `Date: ${commit.date}`,
    ...(commit.refs === undefined ? [] : [`Refs: ${commit.refs.map(oneLine).join(", ")}`]),
    `Message: ${commit.message.split("\n").join("\n    ")}`,
  ].join("\n");
  const parent = first ?? emptyTree(oid);
  const compared = { ...query, between: [parent, oid], tool: "git_show" };
  const changes = await diff(repository, compared, budget - header.length);
  const isCut = first === undefined && (await shallowCommits(repository))?.has(oid);
  const against = isCut
    ? `(${SHALLOW}, so every file appears as new) `
    : parents.length > 1
      ? "(compared with the first parent) "
      : "";
  return { body: `${header}\n\n${changes.body}`, facts: `${against}${changes.facts}` };
}

async function showTag(
  repository: Repository,
  tag: Named,
  query: ShowQuery,
  budget: number,
): Promise<DiffText> {
  const content = textOf(await repository.output(["cat-file", "tag", tag.oid], "read the tag"));
  const [head = "", ...message] = content.split("\n\n");
  const value = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(head)?.[1] ?? "";
  const [, tagger = "", seconds] = /^(.*) (\d+) [+-]\d{4}$/.exec(value("tagger")) ?? [];
  const lines = [
    `Tag: ${oneLine(value("tag"))}`,
    ...(tagger === "" ? [] : [`Tagger: ${oneLine(tagger)}`]),
    ...(seconds === undefined ? [] : [`Date: ${new Date(Number(seconds) * 1000).toISOString()}`]),
    `Message: ${manyLines(message.join("\n\n").trimEnd()).slice(0, messageBudget(budget)).split("\n").join("\n    ")}`,
    "",
  ].join("\n");
  const target = await show(repository, { ...query, revision: value("object") }, budget - lines.length);
  return { body: `${lines}\n${target.body}`, facts: target.facts };
}

async function showTree(
  repository: Repository,
  tree: Named,
  query: ShowQuery,
  budget: number,
): Promise<DiffText> {
  const cursors = cursorsOf("git_show", [repository.location.gitDir, "tree", tree.oid], linePosition);
  const skip = cursors.decode(query.cursor)?.line ?? 0;
  const found = await treeEntries(repository, tree.oid);
  const entries = found.map(({ mode, type, name }) => `${mode} ${type} ${oneLine(name)}`);
  const left = entries.slice(skip);
  const lines = left.slice(
    0,
    fitting(left, budget - 500, ({ length }) => length + 1),
  );
  const next = skip + lines.length;
  const rest =
    next < entries.length ? `; continue with cursor "${cursors.encode({ oid: tree.oid, line: next })}"` : "";
  const shown = `${grouped(lines.length)} of ${counted(entries.length, "entry", "entries")}`;
  return { body: `Tree: ${tree.oid}\n${lines.join("\n")}`, facts: `(${shown}${rest})` };
}

async function showBlob(
  repository: Repository,
  blob: Named,
  query: ShowQuery,
  budget: number,
): Promise<DiffText> {
  const { start_line = 1, end_line = Number.MAX_SAFE_INTEGER } = query;
  if (end_line < start_line) {
    throw new ToolError("invalid", `end_line ${end_line} comes before start_line ${start_line}.`, {
      code: "bad_range",
      hint: "Lines are counted from 1; omit end_line to read to the end.",
    });
  }
  const range = [repository.location.gitDir, "blob", start_line, end_line];
  const cursors = cursorsOf("git_show", range, linePosition);
  const position = cursors.decode(query.cursor) ?? { oid: blob.oid, line: start_line - 1 };
  const remaining = budget - 500;
  const pager = new LinePager({
    skip: position.line,
    maxLines: end_line - position.line,
    maxBytes: remaining,
    maxLineBytes: remaining,
  });
  let isBinary = false;
  let isFirst = true;
  await repository.output(["cat-file", "blob", position.oid], "read the file", {
    maxBytes: Number.MAX_SAFE_INTEGER,
    onStdout(chunk) {
      // The same test as in git: a NUL in the first 8,000 bytes.
      if (isFirst) isBinary = chunk.subarray(0, 8_000).includes(0);
      isFirst = false;
      return !isBinary && pager.take(chunk);
    },
  });
  const size = sized(blob.size);
  if (isBinary) return { body: `Blob: ${position.oid}`, facts: `(binary file, ${size})` };
  const page = pager.page();
  const last = position.line + page.lines.length;
  const isRest = page.more && last < end_line;
  const rest = isRest ? `; continue with cursor "${cursors.encode({ oid: position.oid, line: last })}"` : "";
  const cut = page.cutLines > 0 ? `; ${counted(page.cutLines, "very long line")} cut` : "";
  const lines = page.lines.length === 0 ? "no lines in this range" : `lines ${position.line + 1} to ${last}`;
  return {
    body: `Blob: ${position.oid}\n${page.lines.map(textOf).join("\n")}`,
    facts: `(${lines}, file of ${size}${cut}${rest})`,
  };
}
