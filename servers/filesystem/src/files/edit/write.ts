import { dirname } from "node:path";
import { sizeOf, ToolError } from "@refmcp/boundary/answer";
import { changeAnswer } from "../change/answer.ts";
import { run } from "../change/run.ts";
import { directoryStep, type Step } from "../change/step.ts";
import { failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { lockPath, missingDirectories, openIfThere, withFile } from "../open-path.ts";
import { type Before, binary, checkExpected, hashOf, readBefore } from "../read/bytes.ts";
import { formOf, sourceOf } from "../read/lines.ts";
import { encode, formOfText } from "../read/text-encoding.ts";

/** A file up to this size is compared with its new content. */
const MAX_COMPARED_BYTES = 32 * 1024 * 1024;

export interface WriteRequest {
  readonly path: string;
  readonly content: string;
  readonly mode: "overwrite" | "create" | "append";
  readonly create_parents: boolean;
  readonly expected_hash?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a whole file atomically, or appends to one in place. New content is UTF-8; appended text uses the file's
 * encoding and line endings.
 *
 * @returns `receipt`: undefined if the file already had this content; `hash`: unknown after appending to a large file
 * @throws ToolError `conflict` if the file is not the expected one, exists (`create`) or changes concurrently, `invalid`
 *   for appending to a binary file, and what the guard throws
 */
export async function write(files: Files, request: WriteRequest) {
  const path = await files.guard.resolve(request.path);
  const work = () =>
    writeLocked(files, path, request).catch((error: unknown) => {
      const isParentMissing = error instanceof ToolError && error.kind === "not_found";
      if (!isParentMissing || request.create_parents) throw error;
      throw failure("no_parent", error.message, { cause: error });
    });
  return files.locks.hold([await lockPath(files.guard, path, true)], work, request.signal);
}

/** The size of the file that a write will replace; 0 if there is none. */
export async function replacedBytes({ guard }: Files, { path, mode }: WriteRequest) {
  if (mode !== "overwrite") return 0;
  const file = await openIfThere(guard, path);
  await file?.handle.close();
  return file?.stat.size ?? 0;
}

async function writeLocked(files: Files, path: string, request: WriteRequest) {
  const { content, mode, create_parents, expected_hash, signal } = request;
  const before = await readBefore(files.guard, path, {
    max: mode === "append" ? 0 : MAX_COMPARED_BYTES,
    hash: expected_hash !== undefined,
    signal,
  });
  if (mode === "create" && before !== undefined) {
    const what = `${named(path)} already exists; mode create only writes new files.`;
    throw failure("create_only", what);
  }
  checkExpected(path, before, expected_hash);
  if (mode === "append" && before !== undefined) return appendTo(files, path, before, request);
  const bytes = Buffer.from(content, "utf8");
  const oldForm = before?.bytes?.length ? formOfText(before.bytes, { whole: true }) : undefined;
  const isSame = oldForm === undefined || oldForm.encoding === "utf-8";
  const answer = {
    path,
    created: before === undefined,
    size: bytes.length,
    encoding: isSame ? "utf-8" : `utf-8, was ${oldForm.encoding}`,
    hash: hashOf(bytes),
  };
  if (before?.bytes?.equals(bytes)) return { ...answer, receipt: undefined };
  const parents = create_parents ? await missingDirectories(files.guard)(dirname(path)) : [];
  const steps: Step[] = [
    ...parents.map(directoryStep),
    {
      kind: "put",
      path: before?.path ?? path,
      content: { kind: "bytes", bytes, before: before?.stat },
    },
  ];
  const subject = { action: before === undefined ? "create" : "overwrite", path } as const;
  const { receipt } = await run(files, subject, steps, { signal, isLocked: true });
  return { ...answer, receipt };
}

/** Appends in place, as `>>` does: other programs may have the file open, and add lines at the same time. */
async function appendTo(
  files: Files,
  path: string,
  before: Before,
  { content, expected_hash }: WriteRequest,
) {
  const [form, whole] = await withFile(files.guard, path, async (file) => {
    const source = await sourceOf(file);
    return [formOf(source), source.whole] as const;
  });
  if (form === undefined) throw binary(path);
  const isCrlf = form.eol === "crlf" && !content.includes("\r");
  const text = isCrlf ? content.replaceAll("\n", "\r\n") : content;
  const bytes = encode(text, { ...form, bom: false });
  const answer = { path, created: false, encoding: form.encoding };
  if (bytes.length === 0) {
    const hash = whole && hashOf(whole);
    return { ...answer, size: before.stat.size, hash, receipt: undefined };
  }
  const expected = expected_hash === undefined ? undefined : before.stat;
  const step: Step = { kind: "append", path: before.path, bytes, before: expected };
  const subject = { action: "append", path } as const;
  const { receipt, outcomes } = await run(files, subject, [step], { isLocked: true });
  const size = (outcomes[0]?.replaced ?? 0) + bytes.length;
  const after = whole && Buffer.concat([whole, bytes]);
  return { ...answer, size, hash: after?.length === size ? hashOf(after) : undefined, receipt };
}

export function writeAnswer(written: Awaited<ReturnType<typeof write>>): string {
  const { path, created, size, hash, encoding, receipt } = written;
  const hashed = hash === undefined ? "" : ` Hash ${hash}.`;
  if (receipt === undefined) return `${named(path)} already has this content.${hashed}`;
  const done = `${created ? "Created" : "Wrote"} ${named(path)} (${sizeOf(size)}, ${encoding}).`;
  return changeAnswer(`${done}${hashed}`, receipt);
}
