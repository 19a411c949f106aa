import { oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { type ChangeContext, lockPath } from "../change/change-context.ts";
import { type Before, checkExpected, readBefore, replaceContent } from "../change/replace-content.ts";
import { lossQuestion } from "../change/replaced-entry.ts";
import type { Receipt } from "../journal/recording.ts";
import { binary } from "../read/read-text.ts";
import { tooLarge } from "../read/source.ts";
import {
  decode,
  type Encoding,
  encode,
  type FormedText,
  type TextForm,
  textOf,
} from "../read/text-encoding.ts";
import { changeAnswer, lineCounts, named } from "../wording.ts";
import { diffSomewhere } from "./compare.ts";
import { countLines, type LineCounts } from "./diff.ts";
import { withEnds } from "./line-endings.ts";

/** Maximum bytes of a file that is appended to or compared by lines, since it is kept in memory. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export type WriteMode = "overwrite" | "create" | "append";

export interface WriteRequest {
  readonly path: string;
  readonly content: string;
  readonly mode: WriteMode;
  readonly createParents: boolean;
  readonly expectedHash?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Written {
  readonly path: string;
  readonly created: boolean;
  /** Bytes. */
  readonly size: number;
  readonly sizeBefore: number | undefined;
  /** Lines added and removed; unknown if the previous content was binary or very large. */
  readonly lines: LineCounts | undefined;
  readonly hash: string;
  readonly encoding: Encoding;
  /** The previous encoding, if it was different. */
  readonly encodingBefore: Encoding | undefined;
  /** Undefined if the file already had this content. */
  readonly receipt: Receipt | undefined;
}

/**
 * Writes a whole file, or appends to one, atomically. New content is UTF-8; appended text uses the file's
 * encoding and line endings.
 *
 * @throws ToolError `conflict` if the file is not the expected one, exists (`create`) or changes concurrently,
 * `invalid` for appending to a binary file, `too_large` for appending beyond 32 MiB, and what the guard throws.
 */
export async function write(context: ChangeContext, request: WriteRequest): Promise<Written> {
  const path = await context.guard.resolve(request.path);
  const key = await lockPath(context.guard, path);
  return context.locks
    .hold([key], () => writeLocked(context, path, request), request.signal)
    .catch((error: unknown) => {
      const isParentMissing =
        error instanceof ToolError && error.kind === "not_found" && !request.createParents;
      if (!isParentMissing) throw error;
      throw new ToolError("not_found", error.message, {
        hint: "Set create_parents to create the missing directories.",
        cause: error,
      });
    });
}

/**
 * The question to ask before an overwrite that cannot be undone; undefined if it can, or if nothing is lost.
 */
export async function overwriteQuestion(
  context: ChangeContext,
  path: string,
  mode: WriteMode,
): Promise<string | undefined> {
  if (mode !== "overwrite") return undefined;
  const before = await readBefore(context, path, { max: 0, hash: false });
  if (before === undefined || before.stat.size === 0) return undefined;
  return lossQuestion(context, "Overwrite", path, before.stat.size);
}

async function writeLocked(context: ChangeContext, path: string, request: WriteRequest): Promise<Written> {
  const { mode, expectedHash, signal } = request;
  const before = await readBefore(context, path, {
    max: MAX_HELD_BYTES,
    hash: expectedHash !== undefined,
    signal,
  });
  if (mode === "create" && before !== undefined) throw exists(path);
  checkExpected(path, before, expectedHash);
  const was = before?.bytes && (await textOf(before.bytes));
  const next: Next =
    mode === "append" && before !== undefined
      ? appended(path, before, was?.form, request.content)
      : { bytes: Buffer.from(request.content, "utf8"), encoding: "utf-8" };
  const outcome = {
    path,
    created: before === undefined,
    size: next.bytes.length,
    sizeBefore: before?.stat.size,
    lines: before === undefined ? countLines("", request.content) : await linesOf(context, was, next, signal),
    encoding: next.encoding,
    encodingBefore:
      was?.form.encoding === next.encoding || before?.stat.size === 0 ? undefined : was?.form.encoding,
  };
  if (before?.bytes?.equals(next.bytes)) return { ...outcome, hash: before.hash ?? "", receipt: undefined };
  const { hash, ...receipt } = await replaceContent(context, {
    action: before === undefined ? "create" : mode === "append" ? "append" : "overwrite",
    path,
    bytes: next.bytes,
    before,
    createParents: request.createParents,
    kept: next.kept,
    signal,
  });
  return { ...outcome, hash, receipt };
}

interface Next {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  /** The length of the previous content. */
  readonly kept?: number;
}

function appended(path: string, before: Before, form: TextForm | undefined, content: string): Next {
  if (before.bytes === undefined) {
    const hint = "Write the new text to a separate file.";
    throw tooLarge(path, before.stat.size, MAX_HELD_BYTES, "are appended to", hint);
  }
  if (form === undefined) throw binary(path);
  const ends = form.eol === "crlf" && !content.includes("\r") ? withEnds(content, "\r\n") : content;
  const addition = encode(ends, { ...form, bom: false });
  return {
    bytes: Buffer.concat([before.bytes, addition]),
    encoding: form.encoding,
    kept: before.bytes.length,
  };
}

async function linesOf(
  context: ChangeContext,
  was: FormedText | undefined,
  next: Next,
  signal: AbortSignal | undefined,
): Promise<LineCounts | undefined> {
  if (was === undefined) return undefined;
  const form = { ...was.form, encoding: next.encoding, bom: next.kept !== undefined && was.form.bom };
  const { added, removed } = await diffSomewhere(
    context.threads,
    { oldName: "", newName: "", before: was.text, after: decode(next.bytes, form), maxChars: 0 },
    signal,
  );
  return { added, removed };
}

function exists(path: string): ToolError {
  return new ToolError("conflict", `"${oneLine(path)}" already exists; mode create only writes new files.`, {
    hint: "Choose another name, or use mode overwrite or append.",
  });
}

/** One line that describes what was written. */
export function writeAnswer(written: Written): string {
  const { path, created, size, lines, hash, encoding, encodingBefore, receipt } = written;
  if (receipt === undefined) return `${named(path)} already has this content. Hash ${hash}.`;
  const counts = lines === undefined ? "" : `, ${lineCounts(lines)}`;
  const was = encodingBefore === undefined ? "" : `, was ${encodingBefore}`;
  const done = `${created ? "Created" : "Wrote"} ${named(path)} (${sized(size)}, ${encoding}${was}${counts}).`;
  return changeAnswer(`${done} Hash ${hash}.`, receipt);
}
