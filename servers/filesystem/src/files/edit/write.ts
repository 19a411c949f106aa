import { dirname } from "node:path";
import { sized, ToolError } from "@refmcp/boundary/answer";
import { changeAnswer } from "../change/answer.ts";
import { missingDirectories } from "../change/missing-directories.ts";
import { run } from "../change/run.ts";
import type { Step } from "../change/step.ts";
import { Streamed } from "../change/streamed.ts";
import { failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { lockPath, openIfThere, withFile } from "../open-path.ts";
import { type Before, binary, checkExpected, hashOf, readBefore } from "../read/bytes.ts";
import { formOf, sourceOf } from "../read/lines.ts";
import { decode, encode, type TextForm, textOf } from "../read/text-encoding.ts";
import { diffSomewhere } from "./compare.ts";
import { lineCounts } from "./diff.ts";
import { MAX_INLINE_BYTES, withLinkNote } from "./edit.ts";
import { withEnds } from "./line-ends.ts";
import { joined, openParts, type Part } from "./parts.ts";

/** Maximum bytes of a file that is compared by lines, and of parts to append, since they are kept in memory. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** How many facts about parts an answer has. */
const MAX_NOTES = 5;

export interface WriteRequest {
  readonly path: string;
  readonly content?: string | undefined;
  /** Lines of a file, which do not pass through the caller. */
  readonly parts?: readonly Part[] | undefined;
  readonly mode: "overwrite" | "create" | "append";
  readonly create_parents: boolean;
  readonly expected_hash?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is written: a text or, if it is a large one, its pieces. Call `close` afterwards. */
interface Content {
  readonly text: string;
  readonly pieces?: AsyncIterable<string>;
  readonly notes: ReadonlySet<string>;
  close(): Promise<void>;
}

/**
 * Writes a whole file atomically, or appends to one in place. New content is UTF-8; appended text uses the file's
 * encoding and line endings.
 *
 * @returns `lines`: those added and removed, unknown if the previous content was binary or very large;
 *   `encodingBefore`, if it was different; `notes` about the parts; `receipt`: undefined if the file already had this
 *   content
 * @throws ToolError `conflict` if the file is not the expected one, exists (`create`) or changes concurrently,
 *   `invalid` for appending to a binary file, `too_large` for more than 32 MiB of parts to append, and what the guard
 *   throws
 */
export async function write(files: Files, request: WriteRequest) {
  const path = await files.guard.resolve(request.path);
  const work = async () => {
    const content = await contentOf(files, request);
    const written = await writeLocked(files, path, request, content)
      .catch((error: unknown) => {
        const isParentMissing = error instanceof ToolError && error.kind === "not_found";
        if (!isParentMissing || request.create_parents) throw error;
        throw failure("no_parent", error.message, { cause: error });
      })
      .finally(content.close);
    return { ...written, notes: [...content.notes].slice(0, MAX_NOTES) };
  };
  return files.locks.hold([await lockPath(files.guard, path)], work, request.signal);
}

/** The size of the file that a write will replace; 0 if there is none. */
export async function replacedBytes({ guard }: Files, { path, mode }: WriteRequest) {
  if (mode !== "overwrite") return 0;
  const file = await openIfThere(guard, path);
  await file?.handle.close();
  return file?.stat.size ?? 0;
}

async function contentOf(
  { guard }: Files,
  { content, parts, mode, signal }: WriteRequest,
): Promise<Content> {
  if ((content === undefined) === (parts === undefined))
    throw failure("no_content", "Exactly one of content and parts is required.");
  const notes = new Set<string>();
  if (parts === undefined) return { text: content ?? "", notes, close: async () => {} };
  const source = await openParts(guard, parts);
  const close = () => source.file.handle.close();
  const pieces = joined(source, parts, notes, signal);
  if (source.file.stat.size > MAX_INLINE_BYTES && mode !== "append")
    return { text: "", pieces, notes, close };
  try {
    let text = "";
    for await (const piece of pieces) {
      text += piece;
      if (text.length <= MAX_HELD_BYTES) continue;
      const what = `More than ${sized(MAX_HELD_BYTES)} of text cannot be appended in one call.`;
      throw failure("too_large", what, {
        hint: "Append it in several calls, or write the parts to a new file.",
      });
    }
    return { text, notes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function writeLocked(
  files: Files,
  path: string,
  request: WriteRequest,
  { text, pieces }: Content,
) {
  const { mode, expected_hash, signal } = request;
  const max = mode === "append" || pieces !== undefined ? 0 : MAX_HELD_BYTES;
  const before = await readBefore(files.guard, path, {
    max,
    hash: expected_hash !== undefined,
    signal,
  });
  if (mode === "create" && before !== undefined) {
    const what = `${named(path)} already exists; mode create only writes new files.`;
    throw failure("create_only", what);
  }
  checkExpected(path, before, expected_hash);
  if (mode === "append" && before !== undefined)
    return appendTo(files, path, before, text, request);
  const was = before?.bytes && (await textOf(before.bytes));
  const bytes = pieces === undefined ? Buffer.from(text, "utf8") : new Streamed(encoded(pieces));
  const isSameEncoding = was?.form.encoding === "utf-8" || before?.stat.size === 0;
  const outcome = {
    path,
    created: before === undefined,
    sizeBefore: before?.stat.size,
    lines: await linesOf(files, before, was, pieces === undefined ? text : undefined, signal),
    encoding: "utf-8",
    encodingBefore: isSameEncoding ? undefined : was?.form.encoding,
  };
  if (!(bytes instanceof Streamed) && before?.bytes?.equals(bytes))
    return { ...outcome, size: bytes.length, hash: before.hash ?? "", receipt: undefined };
  const receipt = await put(files, path, bytes, before, request);
  const hash = bytes instanceof Streamed ? bytes.hash : hashOf(bytes);
  return { ...outcome, size: bytes.length, hash, receipt };
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of pieces) yield Buffer.from(text, "utf8");
}

/** The lines that a text adds and removes; undefined if they are unknown. */
async function linesOf(
  { threads }: Files,
  before: Before | undefined,
  was: { text: string; form: TextForm } | undefined,
  text: string | undefined,
  signal: AbortSignal | undefined,
) {
  if (text === undefined || (before !== undefined && was === undefined)) return undefined;
  // The same bytes that are not UTF-8 are the same lines.
  const form = was && ({ ...was.form, encoding: "utf-8", bom: false } as const);
  const after = form === undefined ? text : decode(Buffer.from(text, "utf8"), form);
  const work = { oldName: "", newName: "", before: was?.text ?? "", after, maxChars: 0 };
  const { added, removed } = await diffSomewhere(threads, work, signal);
  return { added, removed };
}

async function put(
  files: Files,
  path: string,
  bytes: Uint8Array | Streamed,
  before: Before | undefined,
  { create_parents, signal }: WriteRequest,
) {
  const { guard } = files;
  const parents = create_parents ? await missingDirectories(guard, dirname(path)) : [];
  const steps: Step[] = [
    ...parents.map((path): Step => ({ kind: "put", path, content: { kind: "directory" } })),
    {
      kind: "put",
      path: before?.path ?? path,
      content: { kind: "bytes", bytes, before: before?.stat },
    },
  ];
  const subject = { action: before === undefined ? "create" : "overwrite", path } as const;
  const { receipt } = await run(files, subject, steps, { signal, isLocked: true });
  return receipt && withLinkNote(receipt, before);
}

/** Appends in place, as `>>` does: other programs may have the file open, and add lines at the same time. */
async function appendTo(
  files: Files,
  path: string,
  before: Before,
  content: string,
  { expected_hash }: WriteRequest,
) {
  const [form, whole] = await withFile(files.guard, path, async (file) => {
    const source = await sourceOf(file);
    return [await formOf(source), source.whole] as const;
  });
  if (form === undefined) throw binary(path);
  const ends = form.eol === "crlf" && !content.includes("\r") ? withEnds(content, "\r\n") : content;
  const bytes = encode(ends, { ...form, bom: false });
  const outcome = {
    path,
    created: false,
    sizeBefore: before.stat.size,
    lines: await linesOf(files, undefined, undefined, content, undefined),
    encoding: form.encoding,
    encodingBefore: undefined,
  };
  if (bytes.length === 0) {
    const hash = whole && hashOf(whole);
    return { ...outcome, size: before.stat.size, hash, receipt: undefined };
  }
  const expected = expected_hash === undefined ? undefined : before.stat;
  const step: Step = { kind: "append", path: before.path, bytes, before: expected };
  const subject = { action: "append", path } as const;
  const { receipt, outcomes } = await run(files, subject, [step], { isLocked: true });
  const size = (outcomes[0]?.replaced ?? 0) + bytes.length;
  const after = whole && Buffer.concat([whole, bytes]);
  return { ...outcome, size, hash: after?.length === size ? hashOf(after) : undefined, receipt };
}

export function writeAnswer(written: Awaited<ReturnType<typeof write>>): string {
  const { path, created, size, lines, hash, encoding, encodingBefore, notes, receipt } = written;
  const hashed = [...(hash === undefined ? [] : [`Hash ${hash}.`]), ...notes]
    .map((one) => ` ${one}`)
    .join("");
  if (receipt === undefined) return `${named(path)} already has this content.${hashed}`;
  const counts = lines === undefined ? "" : `, ${lineCounts(lines)}`;
  const was = encodingBefore === undefined ? "" : `, was ${encodingBefore}`;
  const done = `${created ? "Created" : "Wrote"} ${named(path)} (${sized(size)}, ${encoding}${was}${counts}).`;
  return changeAnswer(`${done}${hashed}`, receipt);
}
