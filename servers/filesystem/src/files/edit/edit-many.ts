import { join } from "node:path";
import { grouped, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { ChangeContext } from "../change/change-context.ts";
import { readBefore } from "../change/replace-content.ts";
import { compileGlob } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { withDirectory } from "../open-path.ts";
import { textOf } from "../read/text-encoding.ts";
import { walk } from "../tree/walk.ts";
import {
  type ChangedFiles,
  changeInTurn,
  type Edited,
  type EditRequest,
  edit,
  MAX_EDIT_BYTES,
} from "./edit.ts";
import { withLf } from "./line-endings.ts";

/** Maximum files searched in one call, and files changed in one. */
const MAX_FILES = 20_000;
const MAX_CHANGED = 500;

export interface EditManyRequest extends Omit<EditRequest, "expectedHash"> {
  /** Selects files below the directory `path`; ignored files are excluded. */
  readonly glob: string;
}

/**
 * Makes the same edits in all files below a directory that contain any of the texts. All results are computed before
 * the first file is changed; then each file is changed only if it has not changed since it was read.
 *
 * @param ignored patterns of the `--ignore` option.
 * @throws ToolError as `edit` does, `not_found` if no file contains one of the texts, `too_large` for too many files.
 */
export async function editMany(
  context: ChangeContext,
  request: EditManyRequest,
  ignored: readonly string[],
): Promise<ChangedFiles<Edited>> {
  const { edits, regex, dryRun, signal } = request;
  const unseen = new Set(edits);
  const planned: { path: string; edited: Edited; again: EditRequest }[] = [];
  for (const path of await filesBelow(context, request, ignored)) {
    signal?.throwIfAborted();
    const before = await readBefore(context, path, { max: MAX_EDIT_BYTES, hash: false });
    const held = before?.bytes && (await textOf(before.bytes));
    if (before === undefined || held === undefined) continue;
    const text = withLf(held.text);
    const found = regex === true ? edits : edits.filter(({ oldText }) => text.includes(withLf(oldText)));
    if (found.length === 0) continue;
    const again = { ...request, path, edits: found, expectedHash: before.hash, skipMissing: regex };
    const edited = await edit(context, { ...again, dryRun: true });
    if (edited.replacements === 0) continue;
    if (planned.length === MAX_CHANGED) throw tooMany(`more than ${MAX_CHANGED} of the files would change`);
    for (const [index, one] of found.entries()) if (!edited.missing.includes(index)) unseen.delete(one);
    planned.push({ path: edited.path, edited, again });
  }
  const [missing] = unseen;
  if (missing !== undefined) {
    throw new ToolError(
      "not_found",
      `No file contains oldText ${JSON.stringify(missing.oldText.slice(0, 120))}.`,
      { hint: "Nothing was changed. Search for it using search_text with the same path and glob." },
    );
  }
  return changeInTurn(planned, async ({ edited, again }) => (dryRun ? edited : edit(context, again)));
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
    await walk(guard, root, { signal, ignore }, (met) => {
      if (met.type === "file" && glob.matches(met.path, met.name, false))
        found.push(join(root.path, met.path));
      return found.length > MAX_FILES ? "stop" : undefined;
    });
    if (found.length > MAX_FILES) {
      throw tooMany(`more than ${grouped(MAX_FILES)} files below "${oneLine(path)}" match the glob`);
    }
    return found;
  });
}

function tooMany(what: string): ToolError {
  return new ToolError("too_large", `Nothing was changed: ${what}.`, {
    hint: "Narrow path or glob, and make several calls.",
  });
}
