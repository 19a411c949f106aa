import { sized, ToolError } from "@refmcp/boundary/answer";
import type { ChangeContext } from "../change/change-context.ts";
import { lossQuestion } from "../change/move.ts";
import {
  appendInPlace,
  type Before,
  checkExpected,
  readBefore,
  replaceContent,
  Streamed,
} from "../change/replace-content.ts";
import { changeAnswer } from "../journal/list-changes.ts";
import { failure, named } from "../messages.ts";
import { lockPath, withFile } from "../open-path.ts";
import { binary, formOf, hashOf, sourceOf } from "../read/source.ts";
import { decode, encode, type TextForm, textOf } from "../read/text-encoding.ts";
import { withEnds } from "./changed-ranges.ts";
import { diffSomewhere } from "./compare.ts";
import { countLines, lineCounts } from "./diff.ts";
import { MAX_INLINE_BYTES } from "./edit.ts";
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

/**
 * Writes a whole file atomically, or appends to one in place. New content is UTF-8; appended text uses the file's
 * encoding and line endings.
 *
 * @returns `lines`: those added and removed, unknown if the previous content was binary or very large;
 * `encodingBefore`, if it was different; `notes` about the parts; `receipt`: undefined if the file already had this content.
 * @throws ToolError `conflict` if the file is not the expected one, exists (`create`) or changes concurrently,
 * `invalid` for appending to a binary file, `too_large` for more than 32 MiB of parts to append, and what the guard
 * throws.
 */
export async function write(context: ChangeContext, request: WriteRequest) {
  const { guard, locks } = context;
  const path = await guard.resolve(request.path);
  const work = async () => {
    const { text, pieces, notes, close } = await contentOf(context, request);
    const writing =
      pieces === undefined
        ? writeLocked(context, path, { ...request, content: text })
        : writeStreamed(context, path, request, pieces);
    const written = await writing
      .catch((error: unknown) => {
        const isParentMissing = error instanceof ToolError && error.kind === "not_found";
        if (!isParentMissing || request.create_parents) throw error;
        throw failure("no_parent", error.message, { cause: error });
      })
      .finally(close);
    return { ...written, notes: [...notes].slice(0, MAX_NOTES) };
  };
  return locks.hold([await lockPath(guard, path)], work, request.signal);
}

/**
 * The question to ask before an overwrite that cannot be undone; undefined if it can, or if nothing is lost.
 */
export async function overwriteQuestion(
  context: ChangeContext,
  path: string,
  mode: WriteRequest["mode"],
) {
  if (mode !== "overwrite") return undefined;
  const before = await readBefore(context, path, { max: 0, hash: false });
  if (before === undefined || before.stat.size === 0) return undefined;
  return lossQuestion(context, "Overwrite", path, before.stat.size);
}

/** What is written: a text or, if it is a large one, its pieces. Call `close` afterwards. */
interface Content {
  readonly text: string;
  readonly pieces?: AsyncIterable<string>;
  readonly notes: ReadonlySet<string>;
  close(): Promise<void>;
}

async function contentOf(
  { guard }: ChangeContext,
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
      if (text.length > MAX_HELD_BYTES) {
        const what = `More than ${sized(MAX_HELD_BYTES)} of text cannot be appended in one call.`;
        throw failure("too_large", what, {
          hint: "Append it in several calls, or write the parts to a new file.",
        });
      }
    }
    return { text, notes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Writes large content piece by piece; the previous content is not compared. */
async function writeStreamed(
  context: ChangeContext,
  path: string,
  { mode, create_parents, expected_hash, signal }: WriteRequest,
  pieces: AsyncIterable<string>,
) {
  const before = await readBefore(context, path, {
    max: 0,
    hash: expected_hash !== undefined,
    signal,
  });
  refuseExisting(path, mode, before);
  checkExpected(path, before, expected_hash);
  const bytes = new Streamed(encoded(pieces));
  const action = before === undefined ? "create" : "overwrite";
  const replacement = {
    action,
    path,
    bytes,
    before,
    createParents: create_parents,
    signal,
  } as const;
  const { hash, ...receipt } = await replaceContent(context, replacement);
  return {
    path,
    created: before === undefined,
    size: bytes.length,
    sizeBefore: before?.stat.size,
    lines: undefined,
    encoding: "utf-8",
    encodingBefore: undefined,
    hash,
    receipt,
  };
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of pieces) yield Buffer.from(text, "utf8");
}

function refuseExisting(
  path: string,
  mode: WriteRequest["mode"],
  before: Before | undefined,
): void {
  if (mode === "create" && before !== undefined)
    throw failure(
      "create_only",
      `${named(path)} already exists; mode create only writes new files.`,
    );
}

async function writeLocked(
  context: ChangeContext,
  path: string,
  { mode, content, create_parents, expected_hash, signal }: WriteRequest & { content: string },
) {
  const max = mode === "append" ? 0 : MAX_HELD_BYTES;
  const needs = { max, hash: expected_hash !== undefined, signal };
  const before = await readBefore(context, path, needs);
  refuseExisting(path, mode, before);
  checkExpected(path, before, expected_hash);
  if (mode === "append" && before !== undefined)
    return appendTo(context, path, before, content, expected_hash !== undefined);
  const was = before?.bytes && (await textOf(before.bytes));
  const bytes = Buffer.from(content, "utf8");
  let lines = before === undefined ? countLines("", content) : undefined;
  if (was !== undefined) {
    const form = { ...was.form, encoding: "utf-8", bom: false } as const;
    const texts = { before: was.text, after: decode(bytes, form) };
    const work = { oldName: "", newName: "", ...texts, maxChars: 0 };
    const { added, removed } = await diffSomewhere(context.threads, work, signal);
    lines = { added, removed };
  }
  const isSameEncoding = was?.form.encoding === "utf-8" || before?.stat.size === 0;
  const outcome = {
    path,
    created: before === undefined,
    size: bytes.length,
    sizeBefore: before?.stat.size,
    lines,
    encoding: "utf-8",
    encodingBefore: isSameEncoding ? undefined : was?.form.encoding,
  };
  if (before?.bytes?.equals(bytes))
    return { ...outcome, hash: before.hash ?? "", receipt: undefined };
  const replacement = {
    action: before === undefined ? "create" : "overwrite",
    path,
    bytes,
    before,
    createParents: create_parents,
    signal,
  } as const;
  const { hash, ...receipt } = await replaceContent(context, replacement);
  return { ...outcome, hash, receipt };
}

/**
 * Appends in place, as `>>` does: other programs may have the file open, and add lines at the same time.
 *
 * @param isExpected whether the file must be the one in `before`.
 */
async function appendTo(
  context: ChangeContext,
  path: string,
  before: Before,
  content: string,
  isExpected: boolean,
) {
  const [form, whole] = await withFile(context.guard, path, async (file) => {
    const source = await sourceOf(file);
    return [await formOf(source), source.whole] as const;
  });
  const { addition, encoding } = additionTo(path, form, content);
  const outcome = {
    path,
    created: false,
    sizeBefore: before.stat.size,
    lines: countLines("", content),
    encoding,
    encodingBefore: undefined,
  };
  if (addition.length === 0) {
    const hash = whole && hashOf(whole);
    return { ...outcome, size: before.stat.size, hash, receipt: undefined };
  }
  const { size, receipt } = await appendInPlace(
    context,
    { action: "append", path },
    addition,
    isExpected ? before.stat : undefined,
  );
  const after = whole && Buffer.concat([whole, addition]);
  return { ...outcome, size, hash: after?.length === size ? hashOf(after) : undefined, receipt };
}

/** Text to append, in the encoding and with the line endings of the file. */
function additionTo(path: string, form: TextForm | undefined, content: string) {
  if (form === undefined) throw binary(path);
  const ends = form.eol === "crlf" && !content.includes("\r") ? withEnds(content, "\r\n") : content;
  return { addition: encode(ends, { ...form, bom: false }), encoding: form.encoding };
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
