import { isAbsolute, join } from "node:path";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { applyPatch as applyTo, parsePatch, type StructuredPatch } from "diff";
import { type ChangeContext, lockPath } from "../change/change-context.ts";
import { deletePlanned, planDelete } from "../change/delete.ts";
import { replaceContent } from "../change/replace-content.ts";
import type { Receipt } from "../journal/recording.ts";
import { decode, encode } from "../read/text-encoding.ts";
import { difference } from "./changed-ranges.ts";
import { countsOf, type LineCounts } from "./diff.ts";
import { type ChangedFiles, changeInTurn, readEditable } from "./edit.ts";
import { unified, withLf } from "./line-endings.ts";
import { write } from "./write.ts";

/** Maximum files in one patch. */
const MAX_FILES = 500;

export interface PatchRequest {
  /** The directory that the patch's paths are relative to. */
  readonly path: string;
  /** A unified diff of one or more files. */
  readonly patch: string;
  /** Only checks whether it applies. */
  readonly dryRun: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Patched extends LineCounts {
  readonly path: string;
  readonly action: "create" | "edit" | "delete";
  /** Undefined for a dry run. */
  readonly receipt: Receipt | undefined;
}

/** The change to one file, once it is known that the whole patch applies. */
interface Step extends Omit<Patched, "receipt"> {
  run(): Promise<Receipt | undefined>;
}

/**
 * Applies a unified diff. If lines were added or removed before a hunk, it is applied where it fits best. All hunks are
 * checked before the first file is changed.
 *
 * @throws ToolError `invalid` if it is not a unified diff, `conflict` for a hunk that does not match, and what editing,
 * creating and deleting throw.
 */
export async function applyPatch(
  context: ChangeContext,
  request: PatchRequest,
): Promise<ChangedFiles<Patched>> {
  const patches = parsed(request.patch);
  const steps: Step[] = [];
  for (const patch of patches) steps.push(await stepOf(context, request, patch));
  return changeInTurn(steps, async ({ run, ...step }) => {
    return { ...step, receipt: request.dryRun ? undefined : await run() };
  });
}

function parsed(text: string): StructuredPatch[] {
  let patches: StructuredPatch[];
  try {
    patches = parsePatch(withLf(text)).filter(({ hunks }) => hunks.length > 0);
  } catch (error) {
    throw noPatch(error instanceof Error ? `${error.message}.` : "");
  }
  if (patches.length === 0) throw noPatch("It contains no hunks (@@ … @@).");
  if (patches.length > MAX_FILES) throw noPatch(`It changes more than ${MAX_FILES} files.`);
  return patches;
}

async function stepOf(context: ChangeContext, request: PatchRequest, patch: StructuredPatch): Promise<Step> {
  const [from, to] = namesOf(patch);
  const counts = countsOf(patch.hunks);
  const name = to ?? from;
  if (name === undefined) throw noPatch("A file has no name (--- a/…, +++ b/…).");
  const path = await context.guard.resolve(isAbsolute(name) ? name : join(request.path, name));
  const { signal } = request;
  if (from === undefined) {
    const content = appliedTo("", patch, path);
    const run = async () => {
      return (await write(context, { path, content, mode: "create", createParents: true, signal })).receipt;
    };
    return { path, action: "create", ...counts, run };
  }
  const found = await readEditable(context, path);
  if (found === undefined) {
    throw new ToolError("not_found", `"${oneLine(path)}" does not exist; nothing was changed.`, {
      hint: "Set path to the directory that the patch's paths are relative to.",
    });
  }
  const { before, bytes: old, form } = found;
  const text = unified(decode(old, form), form.eol);
  const after = appliedTo(text.text, patch, path);
  if (to === undefined) {
    const plan = await planDelete(context, path, { recursive: false, signal });
    if (plan.question !== undefined || after !== "") {
      throw new ToolError("denied", `"${oneLine(path)}" is not deleted by this patch; nothing was changed.`, {
        hint: "Use delete_file, which asks the user first if the file could not be restored.",
      });
    }
    return {
      path,
      action: "delete",
      ...counts,
      run: async () => (await deletePlanned(context, plan, signal)).receipt,
    };
  }
  const region = difference(text.text, after);
  const bytes = encode(text.restore(after, region === undefined ? [] : [region]), form);
  const run = async () =>
    context.locks.hold(
      [await lockPath(context.guard, path)],
      () => replaceContent(context, { action: "edit", path, bytes, before, createParents: false, signal }),
      signal,
    );
  return { path, action: "edit", ...counts, run };
}

/** The old and the new name without the prefixes a/ and b/ of git; undefined for /dev/null. */
function namesOf(patch: StructuredPatch): (string | undefined)[] {
  const names = [patch.oldFileName, patch.newFileName];
  const isGit = names.every(
    (name, index) => name === "/dev/null" || name?.startsWith(index === 0 ? "a/" : "b/"),
  );
  return names.map((name) => (name === "/dev/null" ? undefined : isGit ? name?.slice(2) : name));
}

function appliedTo(text: string, patch: StructuredPatch, path: string): string {
  const after = applyTo(text, patch, { autoConvertLineEndings: false });
  if (after !== false) return after;
  const index = patch.hunks.findIndex(
    (hunk) => applyTo(text, { ...patch, hunks: [hunk] }, { autoConvertLineEndings: false }) === false,
  );
  const hunk = patch.hunks[index];
  const which =
    hunk === undefined ? "The hunks together do" : `Hunk ${index + 1} (line ${hunk.oldStart}) does`;
  throw new ToolError("conflict", `${which} not match "${oneLine(path)}"; nothing was changed.`, {
    hint: "Read those lines with read_text_file and create the patch again, or use edit_file.",
  });
}

function noPatch(reason: string): ToolError {
  return new ToolError("invalid", `The patch is invalid. ${reason}`.trim(), {
    hint: "Give a unified diff, as written by diff -u or git diff.",
  });
}
