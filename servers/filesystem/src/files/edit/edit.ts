import { join } from "node:path";
import { startDeadline } from "@refmcp/boundary";
import { grouped, type ToolError } from "@refmcp/boundary/answer";
import { type ChangeContext, inGroup } from "../change/change-context.ts";
import { checkExpected, readBefore, replaceContent } from "../change/replace-content.ts";
import { takeBack } from "../change/undo-group.ts";
import { compileGlob } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import type { Receipt } from "../journal/recording.ts";
import { failure, named } from "../messages.ts";
import { lockPath, notThere, withDirectory } from "../open-path.ts";
import { binary, hashOf, tooLarge } from "../read/source.ts";
import { decodesBack, formOfText, textOf } from "../read/text-encoding.ts";
import { walk } from "../tree/walk.ts";
import { withLf } from "./changed-ranges.ts";
import { type Edit, type EditOptions, editBytes } from "./edit-text.ts";

/** Maximum bytes of a file that is edited, since several copies are kept in memory. */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;
/** Up to this size an edit takes a few milliseconds; a larger file is edited in a thread. */
export const MAX_INLINE_BYTES = 256 * 1024;
const EDIT_MS = 20_000;
/** Maximum files searched in one call, and files changed in one. */
const MAX_FILES = 20_000;
const MAX_CHANGED = 500;

export interface EditRequest extends EditOptions {
  readonly path: string;
  readonly edits: readonly Edit[];
  readonly dryRun: boolean;
  readonly expected_hash?: string | undefined;
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

export type Edited = Awaited<ReturnType<typeof edit>>;

/**
 * Replaces parts of a text file, all edits or none. Encoding, byte order mark and line endings are preserved;
 * outside the edited ranges no byte changes.
 *
 * @throws ToolError `not_found` and `invalid` for an `oldText` that does not match once, `conflict` if the file is
 * not the expected one or changes concurrently, `too_large` beyond 32 MiB, and what the guard throws.
 */
export async function edit(context: ChangeContext, request: EditRequest) {
  const { guard, locks, threads } = context;
  const path = await guard.resolve(request.path);
  const { edits, replace_all, regex, skipMissing, maxChars, signal } = request;
  const editLocked = async () => {
    const { before, bytes, form } =
      (await readEditable(context, path)) ?? (await notThere(guard, path));
    checkExpected(path, before, request.expected_hash);
    const work = { path, bytes, form, edits, replace_all, regex, skipMissing, maxChars };
    const tooSlow = () =>
      failure(
        "edits_too_slow",
        `The edits of ${named(path)} took more than ${EDIT_MS / 1000} s; nothing was changed.`,
      );
    const inThread = () => {
      const deadline = startDeadline(EDIT_MS, signal, tooSlow);
      return threads.run("edit", work, deadline.signal).finally(deadline.end);
    };
    const { after, ...outcome } =
      bytes.length <= MAX_INLINE_BYTES && regex !== true ? editBytes(work) : await inThread();
    const edited = { path, ...outcome, receipt: undefined };
    if (after === undefined || request.dryRun) return { ...edited, hash: hashOf(after ?? bytes) };
    const replacement = { action: "edit", path, bytes: after, before, signal } as const;
    const { hash, ...receipt } = await replaceContent(context, replacement);
    return { ...edited, hash, receipt };
  };
  return locks.hold([await lockPath(guard, path)], editLocked, signal);
}

/**
 * Reads a text file to edit; undefined if it does not exist.
 *
 * @throws ToolError `invalid` for a binary file, or one that cannot be written back byte for byte, `too_large`
 * beyond 32 MiB.
 */
async function readEditable(context: ChangeContext, path: string) {
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
  if (!decodesBack(bytes, form)) {
    const what = `${form.encoding} text that cannot be written back byte for byte`;
    throw failure("not_kept", `${named(path)} is ${what}.`);
  }
  return { before, bytes, form };
}

export interface EditedFiles {
  readonly files: readonly Edited[];
  readonly receipt: Receipt | undefined;
}

export interface EditManyRequest extends Omit<EditRequest, "expected_hash"> {
  /** Selects files below the directory `path`; ignored files are excluded. */
  readonly glob: string;
}

/**
 * Makes the same edits in all files below a directory that contain any of the texts, as one change: in all of them, or
 * in none if one fails. All results are computed before the first file is changed; then each file is changed only if it
 * has not changed since it was read.
 *
 * @param ignored patterns of the `--ignore` option.
 * @throws ToolError as `edit` does, `not_found` if no file contains one of the texts, `too_large` for too many files.
 */
export async function editMany(
  context: ChangeContext,
  request: EditManyRequest,
  ignored: readonly string[],
): Promise<EditedFiles> {
  const { edits, regex, dryRun, signal } = request;
  const unseen = new Set(edits);
  const planned: { edited: Edited; again: EditRequest }[] = [];
  for (const path of await filesBelow(context, request, ignored)) {
    signal?.throwIfAborted();
    const before = await readBefore(context, path, { max: MAX_EDIT_BYTES, hash: false });
    const held = before?.bytes && (await textOf(before.bytes));
    if (before === undefined || held === undefined) continue;
    const text = withLf(held.text);
    const found =
      regex === true ? edits : edits.filter(({ oldText }) => text.includes(withLf(oldText)));
    if (found.length === 0) continue;
    const again = {
      ...request,
      path,
      edits: found,
      expected_hash: before.hash,
      skipMissing: regex,
    };
    const edited = await edit(context, { ...again, dryRun: true });
    if (edited.replacements === 0) continue;
    if (planned.length === MAX_CHANGED)
      throw tooMany(`more than ${MAX_CHANGED} of the files would change`);
    for (const [index, one] of found.entries())
      if (!edited.missing.includes(index)) unseen.delete(one);
    planned.push({ edited, again });
  }
  const [missing] = unseen;
  if (missing !== undefined) {
    const text = JSON.stringify(missing.oldText.slice(0, 120));
    throw failure("in_no_file", `No file contains oldText ${text}.`);
  }
  if (dryRun) return { files: planned.map(({ edited }) => edited), receipt: undefined };
  const work = async (inside: ChangeContext) => {
    const files: Edited[] = [];
    for (const { again } of planned) files.push(await edit(inside, again));
    return { files };
  };
  const subject = { action: "edit", path: await context.guard.resolve(request.path) } as const;
  return inGroup(context, subject, work, (group) => takeBack(context, group));
}

async function filesBelow(
  { guard }: ChangeContext,
  { path, glob: text, signal }: EditManyRequest,
  ignored: readonly string[],
): Promise<string[]> {
  const glob = compileGlob(text);
  return withDirectory(guard, path, async (root) => {
    const ignore = await IgnoreScope.above(guard, root, ignored);
    const found: string[] = [];
    await walk(guard, root, { signal, ignore }, ({ path, name, type }) => {
      if (type === "file" && glob.matches(path, name, false)) found.push(join(root.path, path));
      return found.length > MAX_FILES ? "stop" : undefined;
    });
    if (found.length <= MAX_FILES) return found;
    throw tooMany(`more than ${grouped(MAX_FILES)} files below ${named(path)} match the glob`);
  });
}

function tooMany(what: string): ToolError {
  return failure("too_many_files", `Nothing was changed: ${what}.`);
}
