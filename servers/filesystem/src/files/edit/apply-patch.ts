import { isAbsolute, join } from "node:path";
import type { ToolError } from "@refmcp/boundary/answer";
import { applyPatch as applyTo, parsePatch, type StructuredPatch } from "diff";
import type { ChangeContext } from "../change/change-context.ts";
import { deletePlanned, planDelete } from "../change/delete.ts";
import { replaceContent } from "../change/replace-content.ts";
import type { Receipt } from "../journal/recording.ts";
import { failure, named } from "../messages.ts";
import { lockPath } from "../open-path.ts";
import { decode, encode } from "../read/text-encoding.ts";
import { differences, unified, withLf } from "./changed-ranges.ts";
import { countsOf, type LineCounts } from "./diff.ts";
import { type ChangedFiles, changeInTurn, readEditable } from "./edit.ts";
import { write } from "./write.ts";

const MAX_FILES = 500;

export interface PatchRequest {
  readonly path: string;
  readonly patch: string;
  readonly dryRun: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Patched extends LineCounts {
  readonly path: string;
  readonly action: "create" | "edit" | "delete";
  readonly receipt: Receipt | undefined;
}

/** The change to one file, once it is known that the whole patch applies. */
interface Step extends Omit<Patched, "receipt"> {
  run(context: ChangeContext): Promise<Receipt | undefined>;
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
  const steps: Step[] = [];
  for (const patch of parsed(request.patch)) steps.push(await stepOf(context, request, patch));
  return changeInTurn(context, request, steps, async ({ run, ...step }, inside) => {
    return { ...step, receipt: request.dryRun ? undefined : await run(inside) };
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
  const { guard, locks } = context;
  const { signal } = request;
  const [from, to] = namesOf(patch);
  const name = to ?? from;
  if (name === undefined) throw noPatch("A file has no name (--- a/…, +++ b/…).");
  const path = await guard.resolve(isAbsolute(name) ? name : join(request.path, name));
  const step = { path, ...countsOf(patch.hunks) };
  if (from === undefined) {
    const content = appliedTo("", patch, path);
    const file = { path, content, mode: "create", create_parents: true, signal } as const;
    return { ...step, action: "create", run: async (inside) => (await write(inside, file)).receipt };
  }
  const found = await readEditable(context, path);
  if (found === undefined) {
    throw failure("not_patched", `${named(path)} does not exist; nothing was changed.`);
  }
  const { before, bytes: old, form } = found;
  const text = unified(decode(old, form), form.eol);
  const after = appliedTo(text.text, patch, path);
  if (to === undefined) {
    const plan = await planDelete(context, path, { recursive: false, signal });
    if (plan.question !== undefined || after !== "") {
      throw failure("not_deleted", `${named(path)} is not deleted by this patch; nothing was changed.`);
    }
    return {
      ...step,
      action: "delete",
      run: async (inside) => (await deletePlanned(inside, plan, signal)).receipt,
    };
  }
  const bytes = encode(text.restore(after, differences(text.text, after)), form);
  const replacement = { action: "edit", path, bytes, before, signal } as const;
  const run = async (inside: ChangeContext) =>
    locks.hold([await lockPath(guard, path)], () => replaceContent(inside, replacement), signal);
  return { ...step, action: "edit", run };
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
  const options = { autoConvertLineEndings: false };
  const after = applyTo(text, patch, options);
  if (after !== false) return after;
  const index = patch.hunks.findIndex(
    (hunk) => applyTo(text, { ...patch, hunks: [hunk] }, options) === false,
  );
  const hunk = patch.hunks[index];
  const which =
    hunk === undefined ? "The hunks together do" : `Hunk ${index + 1} (line ${hunk.oldStart}) does`;
  throw failure("bad_hunk", `${which} not match ${named(path)}; nothing was changed.`);
}

function noPatch(reason: string): ToolError {
  return failure("bad_patch", `The patch is invalid. ${reason}`.trim());
}
