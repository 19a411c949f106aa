import { clip, cursorsOf, digits, manyLines, oneLine, sizeOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, Repository } from "../open/repository.ts";
import { checked, ONE_COMMIT, objectOf, refuseAmbiguous } from "../open/revisions.ts";
import { failure, failureOf } from "../run/errors.ts";
import { countOf, fittingLines, linesAt, pathText, records, textOf } from "../run/text.ts";
import { indented } from "./commits.ts";
import { type DiffQuery, type DiffText, diff, MAX_READ_BYTES } from "./diff.ts";

interface ShowQuery extends Omit<DiffQuery, "between" | "commit" | "tool"> {
  readonly revision: string;
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
}

const position = z.object({ oid: z.string(), line: z.int().min(0) });
/** git's test for a binary file: a NUL in the first 8,000 bytes. */
const BINARY_BYTES = 8_000;

/**
 * Shows an object: a commit with its patch, a tag and its target, a directory, or a file. Most plain
 * names are those of commits, which one process reads.
 */
export async function show(
  repository: Repository,
  query: ShowQuery,
  caller: Budget,
): Promise<DiffText> {
  const { revision, start_line, end_line, ...how } = query;
  const showCommit = (commit: string, otherwise?: () => Promise<DiffText>) => {
    const what = { between: [commit], revisions: [commit], commit, otherwise, tool: "git_show" };
    return diff(repository, { ...how, ...what }, caller);
  };
  const showObject = async () => {
    const object = await readObject(repository, revision);
    if (object.type === "commit") return showCommit(object.oid);
    if (object.type === "tag") return showTag(repository, textOf(object.content), query, caller);
    if (object.type === "tree") return showTree(repository, object.oid, query, caller);
    return showFile(repository, object, query, caller);
  };
  return ONE_COMMIT.test(checked(revision)) ? showCommit(revision, showObject) : showObject();
}

/**
 * What a revision names, and its content (of at most 32 MiB), from one process. The name is passed on stdin.
 *
 * @throws ToolError `bad_revision`, `ambiguous_name`, `missing_object`
 */
async function readObject(repository: Repository, revision: string) {
  const input = `${checked(revision)}\n`;
  const result = await repository.run(["cat-file", "--batch"], { input, maxBytes: MAX_READ_BYTES });
  refuseAmbiguous(result.stderr);
  const { stdout } = result;
  const start = stdout.indexOf(10) + 1;
  const head = stdout.toString("utf8", 0, start - 1);
  const [, oid, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(head) ?? [];
  if (oid === undefined || type === undefined) {
    await objectOf(repository, revision);
    throw failureOf(result, "read the object");
  }
  if (result.code !== 0 && !result.cut) throw failureOf(result, "read the object");
  return { oid, type, size: Number(size), content: stdout.subarray(start, start + Number(size)) };
}

async function showTag(
  repository: Repository,
  content: string,
  query: ShowQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const [, target = ""] = /^object ([0-9a-f]+)$/m.exec(content) ?? [];
  const text = clip(
    content.replace(/^object .*\ntype .*\ntag /, ""),
    Math.max(1_000, budget - 4_000),
  );
  const lines = `Tag: ${indented(manyLines(text.trimEnd()))}\n`;
  const rest = { budget: budget - lines.length };
  const answer = await show(repository, { ...query, revision: target }, rest);
  return { ...answer, body: `${lines}\n${answer.body}` };
}

async function showTree(
  repository: Repository,
  oid: string,
  query: ShowQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const cursors = cursorsOf("git_show", [repository.location.gitDir, "tree", oid], position);
  const skip = cursors.decode(query.cursor)?.line ?? 0;
  const listing = await repository.output(["ls-tree", "-z", oid], "read the directory");
  const entries = records(listing).map((record) => {
    const [mode = "", type = ""] = record.toString("latin1").split(" ", 2);
    const name = oneLine(pathText(record.subarray(record.indexOf(9) + 1)));
    return `${mode} ${type} ${name}${type === "tree" ? "/" : ""}`;
  });
  const lines = fittingLines(entries.slice(skip), budget - 500);
  const next = skip + lines.length;
  const rest =
    next < entries.length ? `; continue with cursor "${cursors.encode({ oid, line: next })}"` : "";
  const summary = `${digits(lines.length)} of ${countOf(entries.length, "entry", "entries")}`;
  return { body: `Tree: ${oid}\n${lines.join("\n")}`, facts: `(${summary}${rest})` };
}

/** Lines of a file; a cursor continues the same content even if the file has changed since. */
async function showFile(
  repository: Repository,
  target: Awaited<ReturnType<typeof readObject>>,
  query: ShowQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const { start_line = 1, end_line = Number.MAX_SAFE_INTEGER } = query;
  if (end_line < start_line)
    throw failure("bad_range", `end_line ${end_line} comes before start_line ${start_line}.`);
  const bound = [repository.location.gitDir, "blob", start_line, end_line];
  const cursors = cursorsOf("git_show", bound, position);
  const start = cursors.decode(query.cursor) ?? { oid: target.oid, line: start_line - 1 };
  const object = start.oid === target.oid ? target : await readObject(repository, start.oid);
  const { oid, content } = object;
  const size = sizeOf(object.size);
  if (content.subarray(0, BINARY_BYTES).includes(0))
    return { body: `Blob: ${oid}`, facts: `(binary file, ${size})` };
  let at = 0;
  for (let line = 0; line < start.line && at < content.length; line++) {
    const end = content.indexOf(10, at);
    at = end === -1 ? content.length : end + 1;
  }
  const { lines, end } = linesAt(content, at, budget - 500, budget - 500);
  const pageLines = lines.slice(0, end_line - start.line);
  const last = start.line + pageLines.length;
  const isRest = last < end_line && end < content.length;
  const rest = isRest ? `; continue with cursor "${cursors.encode({ oid, line: last })}"` : "";
  const long = pageLines.filter(({ isCut }) => isCut).length;
  const cut = long > 0 ? `; ${countOf(long, "very long line")} cut` : "";
  const most = object.size > content.length ? "; only the first 32 MiB" : "";
  const range =
    pageLines.length === 0 ? "no lines in this range" : `lines ${start.line + 1} to ${last}`;
  const body = `Blob: ${oid}\n${pageLines.map(({ text }) => text).join("\n")}`;
  return { body, facts: `(${range}, file of ${size}${most}${cut}${rest})` };
}
