import { sized, ToolError } from "@refmcp/boundary/answer";
import type { ChangeContext } from "../change/change-context.ts";
import { lossQuestion } from "../change/move.ts";
import { type Before, checkExpected, readBefore, replaceContent } from "../change/replace-content.ts";
import { changeAnswer } from "../journal/list-changes.ts";
import { failure, named } from "../messages.ts";
import { lockPath } from "../open-path.ts";
import { binary, tooLarge } from "../read/source.ts";
import { decode, type Encoding, encode, type TextForm, textOf } from "../read/text-encoding.ts";
import { withEnds } from "./changed-ranges.ts";
import { diffSomewhere } from "./compare.ts";
import { countLines, lineCounts } from "./diff.ts";

/** Maximum bytes of a file that is appended to or compared by lines, since it is kept in memory. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export interface WriteRequest {
  readonly path: string;
  readonly content: string;
  readonly mode: "overwrite" | "create" | "append";
  readonly create_parents: boolean;
  readonly expected_hash?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a whole file, or appends to one, atomically. New content is UTF-8; appended text uses the file's
 * encoding and line endings.
 *
 * @returns `lines`: those added and removed, unknown if the previous content was binary or very large;
 * `encodingBefore`, if it was different; `receipt`: undefined if the file already had this content.
 * @throws ToolError `conflict` if the file is not the expected one, exists (`create`) or changes concurrently,
 * `invalid` for appending to a binary file, `too_large` for appending beyond 32 MiB, and what the guard throws.
 */
export async function write(context: ChangeContext, request: WriteRequest) {
  const { guard, locks } = context;
  const path = await guard.resolve(request.path);
  const work = () => writeLocked(context, path, request);
  return locks.hold([await lockPath(guard, path)], work, request.signal).catch((error: unknown) => {
    const isParentMissing = error instanceof ToolError && error.kind === "not_found";
    if (!isParentMissing || request.create_parents) throw error;
    throw failure("no_parent", error.message, { cause: error });
  });
}

/**
 * The question to ask before an overwrite that cannot be undone; undefined if it can, or if nothing is lost.
 */
export async function overwriteQuestion(context: ChangeContext, path: string, mode: WriteRequest["mode"]) {
  if (mode !== "overwrite") return undefined;
  const before = await readBefore(context, path, { max: 0, hash: false });
  if (before === undefined || before.stat.size === 0) return undefined;
  return lossQuestion(context, "Overwrite", path, before.stat.size);
}

async function writeLocked(
  context: ChangeContext,
  path: string,
  { mode, content, create_parents, expected_hash, signal }: WriteRequest,
) {
  const needs = { max: MAX_HELD_BYTES, hash: expected_hash !== undefined, signal };
  const before = await readBefore(context, path, needs);
  if (mode === "create" && before !== undefined) {
    throw failure("create_only", `${named(path)} already exists; mode create only writes new files.`);
  }
  checkExpected(path, before, expected_hash);
  const was = before?.bytes && (await textOf(before.bytes));
  const next: Next =
    mode === "append" && before !== undefined
      ? appended(path, before, was?.form, content)
      : { bytes: Buffer.from(content, "utf8"), encoding: "utf-8" };
  const { bytes, encoding, kept } = next;
  let lines = before === undefined ? countLines("", content) : undefined;
  if (was !== undefined) {
    const form = { ...was.form, encoding, bom: kept !== undefined && was.form.bom };
    const texts = { before: was.text, after: decode(bytes, form) };
    const work = { oldName: "", newName: "", ...texts, maxChars: 0 };
    const { added, removed } = await diffSomewhere(context.threads, work, signal);
    lines = { added, removed };
  }
  const isSameEncoding = was?.form.encoding === encoding || before?.stat.size === 0;
  const outcome = {
    path,
    created: before === undefined,
    size: bytes.length,
    sizeBefore: before?.stat.size,
    lines,
    encoding,
    encodingBefore: isSameEncoding ? undefined : was?.form.encoding,
  };
  if (before?.bytes?.equals(bytes)) return { ...outcome, hash: before.hash ?? "", receipt: undefined };
  const action = before === undefined ? "create" : mode === "append" ? "append" : "overwrite";
  const replacement = { action, path, bytes, before, createParents: create_parents, kept, signal } as const;
  const { hash, ...receipt } = await replaceContent(context, replacement);
  return { ...outcome, hash, receipt };
}

interface Next {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  /** The length of the previous content. */
  readonly kept?: number;
}

function appended(path: string, { bytes, stat }: Before, form: TextForm | undefined, content: string): Next {
  if (bytes === undefined) {
    const hint = "Write the new text to a separate file.";
    throw tooLarge(path, stat.size, MAX_HELD_BYTES, "are appended to", hint);
  }
  if (form === undefined) throw binary(path);
  const ends = form.eol === "crlf" && !content.includes("\r") ? withEnds(content, "\r\n") : content;
  const addition = encode(ends, { ...form, bom: false });
  return { bytes: Buffer.concat([bytes, addition]), encoding: form.encoding, kept: bytes.length };
}

export function writeAnswer(written: Awaited<ReturnType<typeof write>>): string {
  const { path, created, size, lines, hash, encoding, encodingBefore, receipt } = written;
  if (receipt === undefined) return `${named(path)} already has this content. Hash ${hash}.`;
  const counts = lines === undefined ? "" : `, ${lineCounts(lines)}`;
  const was = encodingBefore === undefined ? "" : `, was ${encodingBefore}`;
  const done = `${created ? "Created" : "Wrote"} ${named(path)} (${sized(size)}, ${encoding}${was}${counts}).`;
  return changeAnswer(`${done} Hash ${hash}.`, receipt);
}
