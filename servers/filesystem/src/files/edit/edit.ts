import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { type ChangeContext, lockPath } from "../change/change-context.ts";
import { type Before, checkExpected, readBefore, replaceContent } from "../change/replace-content.ts";
import type { Receipt } from "../journal/recording.ts";
import { notThere } from "../open-path.ts";
import { binary } from "../read/read-text.ts";
import { hashOf, tooLarge } from "../read/source.ts";
import { decodesBack, formOfText, type TextForm } from "../read/text-encoding.ts";
import { type Edit, type EditedBytes, type EditOptions, editBytes } from "./edit-text.ts";

/** Maximum bytes of a file that is edited, since several copies are kept in memory. */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;
/** Up to this size an edit takes a few milliseconds; a larger file is edited in a thread. */
export const MAX_INLINE_BYTES = 256 * 1024;
/** Time limit for the edits of a file, in milliseconds. */
const EDIT_MS = 20_000;

export interface EditRequest extends EditOptions {
  readonly path: string;
  readonly edits: readonly Edit[];
  /** Shows what would change without changing anything. */
  readonly dryRun: boolean;
  readonly expectedHash?: string | undefined;
  /** Maximum characters of the diff. */
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Edited extends Omit<EditedBytes, "after"> {
  readonly path: string;
  /** The hash of the content after the edits. */
  readonly hash: string;
  /** Undefined if nothing was changed. */
  readonly receipt: Receipt | undefined;
}

/**
 * Replaces parts of a text file, all edits or none. Encoding, byte order mark and line endings are preserved;
 * outside the edited ranges no byte changes.
 *
 * @throws ToolError `not_found` and `invalid` for an `oldText` that does not match once, `conflict` if the file is
 * not the expected one or changes concurrently, `too_large` beyond 32 MiB, and what the guard throws.
 */
export async function edit(context: ChangeContext, request: EditRequest): Promise<Edited> {
  const path = await context.guard.resolve(request.path);
  const key = await lockPath(context.guard, path);
  return context.locks.hold([key], () => editLocked(context, path, request), request.signal);
}

async function editLocked(context: ChangeContext, path: string, request: EditRequest): Promise<Edited> {
  const { before, bytes, form } =
    (await readEditable(context, path)) ?? (await notThere(context.guard, path));
  checkExpected(path, before, request.expectedHash);
  const { edits, replaceAll, regex, skipMissing, maxChars, signal } = request;
  const work = { path, bytes, form, edits, replaceAll, regex, skipMissing, maxChars };
  const { after, ...outcome } =
    bytes.length <= MAX_INLINE_BYTES && regex !== true
      ? editBytes(work)
      : await context.threads.runWithin(EDIT_MS, () => tooSlow(path), "edit", work, signal);
  if (after === undefined) return { path, ...outcome, hash: hashOf(bytes), receipt: undefined };
  if (request.dryRun) return { path, ...outcome, hash: hashOf(after), receipt: undefined };
  const { hash, ...receipt } = await replaceContent(context, {
    action: "edit",
    path,
    bytes: after,
    before,
    createParents: false,
    signal,
  });
  return { path, ...outcome, hash, receipt };
}

function tooSlow(path: string): ToolError {
  return new ToolError(
    "timeout",
    `The edits of "${oneLine(path)}" took more than ${EDIT_MS / 1000} s; nothing was changed.`,
    { hint: "Simplify the expressions: nested repetition, as in (a+)+, may never finish." },
  );
}

/** A text file as read before it is edited. */
export interface Editable {
  readonly before: Before;
  readonly bytes: Buffer;
  readonly form: TextForm;
}

/**
 * Reads a file to edit; undefined if it does not exist.
 *
 * @throws ToolError `invalid` for a binary file, or one that cannot be written back byte for byte, `too_large`
 * beyond 32 MiB.
 */
export async function readEditable(context: ChangeContext, path: string): Promise<Editable | undefined> {
  const before = await readBefore(context, path, { max: MAX_EDIT_BYTES, hash: false });
  if (before === undefined) return undefined;
  const { bytes, stat } = before;
  if (bytes === undefined) {
    const hint =
      "Copy the part to change to a separate file, or ask the user to edit it with another program.";
    throw tooLarge(path, stat.size, MAX_EDIT_BYTES, "are edited", hint);
  }
  const form = await formOfText(bytes, { whole: true });
  if (form === undefined) throw binary(path);
  if (!decodesBack(bytes, form)) throw notKept(path, form.encoding);
  return { before, bytes, form };
}

function notKept(path: string, encoding: string): ToolError {
  return new ToolError(
    "invalid",
    `"${oneLine(path)}" is ${encoding} text that cannot be written back byte for byte.`,
    { hint: "Read it, then rewrite it as UTF-8 with write_file, or edit it with another program." },
  );
}

export interface ChangedFiles<File> {
  /** Those that changed, in order. */
  readonly files: readonly File[];
  /** The file that could not be changed after the previous ones were, and why. */
  readonly stopped: { readonly path: string; readonly error: ToolError } | undefined;
}

/** Changes files in order. Stops at the first refusal, which is thrown if nothing has been changed yet. */
export async function changeInTurn<Step extends { readonly path: string }, File>(
  steps: readonly Step[],
  change: (step: Step) => Promise<File>,
): Promise<ChangedFiles<File>> {
  const files: File[] = [];
  for (const step of steps) {
    try {
      files.push(await change(step));
    } catch (error) {
      if (!(error instanceof ToolError) || files.length === 0) throw error;
      return { files, stopped: { path: step.path, error } };
    }
  }
  return { files, stopped: undefined };
}
