import { cursorsOf, grouped, manyLines, oneLine, sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, Repository } from "../open/repository.ts";
import { indented } from "../read/commits.ts";
import { type DiffFormat, type DiffText, diff } from "../read/diff.ts";
import { LinePager } from "../read/line-pager.ts";
import { SHALLOW, shallowCommits } from "../read/partial.ts";
import { failure } from "../run/errors.ts";
import { counted, fittingLines, pathText, records, textOf } from "../run/text.ts";
import { readObject, type SizedObject } from "./objects.ts";

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

const position = z.object({ oid: z.string(), line: z.int().min(0) });
/** git's test for a binary file: a NUL in the first 8,000 bytes. */
const BINARY_BYTES = 8_000;

/** Shows an object: a commit with its patch, a tag and its target, a directory, or a file. */
export async function show(
  repository: Repository,
  query: ShowQuery,
  caller: Budget,
): Promise<DiffText> {
  const tag: Buffer[] = [];
  let file: FilePage | undefined;
  const object = await readObject(repository, query.revision, (found) => {
    if (found.type === "tag") return (chunk) => tag.push(chunk) > 0;
    if (found.type !== "blob") return undefined;
    file = new FilePage(repository, query, found, caller);
    return file.start.oid === found.oid ? file.take : undefined;
  });
  if (object.type === "commit") return showCommit(repository, object.oid, query, caller);
  if (object.type === "tag") return showTag(repository, textOf(Buffer.concat(tag)), query, caller);
  if (file === undefined) return showTree(repository, object.oid, query, caller);
  // The file has changed since the cursor was made, which continues the same content.
  const { start, take } = file;
  if (start.oid !== object.oid) await readObject(repository, start.oid, () => take);
  return file.text();
}

async function showCommit(
  repository: Repository,
  oid: string,
  query: ShowQuery,
  caller: Budget,
): Promise<DiffText> {
  const { revision: _, start_line, end_line, ...how } = query;
  const compared = { ...how, between: [oid], commit: oid, tool: "git_show" };
  const { body, facts, parents = 0 } = await diff(repository, compared, caller);
  const isCut = (await shallowCommits(repository))?.has(oid);
  const against = isCut
    ? `(${SHALLOW}, so every file appears as new) `
    : parents > 1
      ? "(compared with the first parent) "
      : "";
  return { body, facts: `${against}${facts}`.trimEnd() };
}

async function showTag(
  repository: Repository,
  content: string,
  query: ShowQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const [head = "", ...message] = content.split("\n\n");
  const value = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(head)?.[1] ?? "";
  const [, tagger = "", seconds] = /^(.*) (\d+) [+-]\d{4}$/.exec(value("tagger")) ?? [];
  const text = manyLines(message.join("\n\n").trimEnd());
  const lines = [
    `Tag: ${oneLine(value("tag"))}`,
    ...(tagger === "" ? [] : [`Tagger: ${oneLine(tagger)}`]),
    ...(seconds === undefined ? [] : [`Date: ${new Date(Number(seconds) * 1000).toISOString()}`]),
    `Message: ${indented(text.slice(0, Math.max(1_000, budget - 4_000)))}`,
    "",
  ].join("\n");
  const shown = { ...query, revision: value("object") };
  const target = await show(repository, shown, { budget: budget - lines.length });
  return { body: `${lines}\n${target.body}`, facts: target.facts };
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
    const tab = record.indexOf(9);
    const [mode = "", type = ""] = record.toString("latin1", 0, tab).split(" ");
    const name = oneLine(pathText(record.subarray(tab + 1)));
    return `${mode} ${type} ${name}${type === "tree" ? "/" : ""}`;
  });
  const lines = fittingLines(entries.slice(skip), budget - 500);
  const next = skip + lines.length;
  const rest =
    next < entries.length ? `; continue with cursor "${cursors.encode({ oid, line: next })}"` : "";
  const shown = `${grouped(lines.length)} of ${counted(entries.length, "entry", "entries")}`;
  return { body: `Tree: ${oid}\n${lines.join("\n")}`, facts: `(${shown}${rest})` };
}

/** Reads some lines of a file as they arrive, so that a large file is never in memory. */
class FilePage {
  readonly #cursors;
  readonly #pager: LinePager;
  readonly #size: number;
  readonly #endLine: number;
  /** The content to read, and how many lines to skip. */
  readonly start: z.infer<typeof position>;
  #bytes = 0;
  #isBinary = false;

  /** @throws ToolError `bad_range` */
  constructor(
    repository: Repository,
    query: ShowQuery,
    { oid, size }: SizedObject,
    { budget }: Budget,
  ) {
    const { start_line = 1, end_line = Number.MAX_SAFE_INTEGER } = query;
    if (end_line < start_line) {
      const hint = "Lines are counted from 1; omit end_line to read to the end.";
      const message = `end_line ${end_line} comes before start_line ${start_line}.`;
      throw failure("bad_range", message, { hint });
    }
    const range = [repository.location.gitDir, "blob", start_line, end_line];
    this.#cursors = cursorsOf("git_show", range, position);
    this.start = this.#cursors.decode(query.cursor) ?? { oid, line: start_line - 1 };
    this.#size = size;
    this.#endLine = end_line;
    const remaining = budget - 500;
    const maxLines = end_line - this.start.line;
    const limits = { maxLines, maxBytes: remaining, maxLineBytes: remaining };
    this.#pager = new LinePager({ skip: this.start.line, ...limits });
  }

  readonly take = (chunk: Buffer): boolean => {
    const rest = Math.max(0, BINARY_BYTES - this.#bytes);
    this.#bytes += chunk.length;
    if (chunk.subarray(0, rest).includes(0)) this.#isBinary = true;
    return !this.#isBinary && this.#pager.take(chunk);
  };

  text(): DiffText {
    const { oid, line } = this.start;
    const size = sized(this.#size);
    if (this.#isBinary) return { body: `Blob: ${oid}`, facts: `(binary file, ${size})` };
    const { lines, more, cutLines } = this.#pager.page();
    const last = line + lines.length;
    const rest =
      more && last < this.#endLine
        ? `; continue with cursor "${this.#cursors.encode({ oid, line: last })}"`
        : "";
    const cut = cutLines > 0 ? `; ${counted(cutLines, "very long line")} cut` : "";
    const range = lines.length === 0 ? "no lines in this range" : `lines ${line + 1} to ${last}`;
    const body = `Blob: ${oid}\n${lines.map(textOf).join("\n")}`;
    return { body, facts: `(${range}, file of ${size}${cut}${rest})` };
  }
}
