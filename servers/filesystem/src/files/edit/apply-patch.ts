import { dirname, isAbsolute, join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import { applyPatch as applyTo } from "diff";
import { type ChangeContext, createDirectory } from "../change/change-context.ts";
import { copy } from "../change/copy.ts";
import { deletePlanned, ordinaryType, planDelete } from "../change/delete.ts";
import { setExecutable } from "../change/executable.ts";
import { move } from "../change/move.ts";
import { replaceContent } from "../change/replace-content.ts";
import { failure, named } from "../messages.ts";
import { lockPath, orNothing, placeOf } from "../open-path.ts";
import { decode, encode } from "../read/text-encoding.ts";
import { differences, unified } from "./changed-ranges.ts";
import { countsOf, type LineCounts } from "./diff.ts";
import { type ChangedFiles, changeInTurn, readEditable } from "./edit.ts";
import { type FilePatch, parseGitPatch } from "./git-patch.ts";

export interface PatchRequest {
  readonly path: string;
  readonly patch: string;
  readonly dryRun: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** `from`: the file that was renamed or copied. */
export interface Patched extends LineCounts, Pick<FilePatch, "action" | "executable"> {
  readonly path: string;
  readonly from: string | undefined;
}

/** The change to one file, once it is known that the whole patch applies. */
interface Step extends Patched {
  run(inside: ChangeContext): Promise<unknown>;
}

/** Copies need the original content of their sources, and a directory may take the place of a deleted file. */
const RANK: Readonly<Partial<Record<FilePatch["action"], number>>> = { copy: 0, delete: 1 };

/**
 * Applies a unified diff, with the renames, copies and modes of `git diff`. If lines were added or removed before a
 * hunk, it is applied where it fits best. Everything is checked before the first file is changed.
 *
 * @throws ToolError `invalid` if it is not a unified diff of text files, `conflict` for a hunk that does not match or
 * a file that is in the way, and what editing, creating, moving, copying and deleting throw.
 */
export async function applyPatch(
  context: ChangeContext,
  request: PatchRequest,
): Promise<ChangedFiles<Patched>> {
  const { guard } = context;
  const steps: Step[] = [];
  const changed = new Set<string>();
  for (const patch of parseGitPatch(request.patch)) {
    const [from, to] = await Promise.all(
      [patch.from, patch.to].map((name) =>
        guard.resolve(isAbsolute(name) ? name : join(request.path, name)),
      ),
    );
    if (from === undefined || to === undefined) continue;
    for (const path of new Set(patch.action === "copy" ? [to] : [from, to])) {
      if (changed.has(path))
        throw failure("twice_in_patch", `The patch changes ${named(path)} twice.`);
      changed.add(path);
    }
    steps.push(await stepOf(context, { ...patch, from, to }, request.signal));
  }
  steps.sort((a, b) => (RANK[a.action] ?? 2) - (RANK[b.action] ?? 2));
  return changeInTurn(context, request, steps, async ({ run, ...step }, inside) => {
    if (!request.dryRun) await run(inside);
    return step;
  });
}

/** Checks one file of the patch. `from` and `to` are absolute. */
async function stepOf(
  context: ChangeContext,
  patch: FilePatch,
  signal?: AbortSignal,
): Promise<Step> {
  const { guard, locks } = context;
  const { action, from, to, hunks, executable } = patch;
  const isMoved = action === "rename" || action === "copy";
  const step = {
    path: to,
    action,
    from: isMoved ? from : undefined,
    executable,
    ...countsOf(hunks),
  };
  const lock = async <Result>(work: () => Promise<Result>) =>
    locks.hold([await lockPath(guard, to)], work, signal);
  const setMode = async (inside: ChangeContext, isExecutable = executable) => {
    if (isExecutable !== undefined) await lock(() => setExecutable(inside, to, isExecutable));
  };

  if (action === "create" || isMoved) await checkFree(context, to);
  if (action === "create") {
    const bytes = Buffer.from(appliedTo("", patch) ?? noMatch("", patch));
    const file = {
      action,
      path: to,
      bytes,
      before: undefined,
      createParents: true,
      signal,
    } as const;
    const run = async (inside: ChangeContext) => {
      await lock(() => replaceContent(inside, file));
      await setMode(inside);
    };
    return { ...step, run };
  }
  const source = await placeOf(guard, from, { write: action !== "copy" }).catch(orNothing);
  if (source?.stat === undefined) {
    throw failure("not_patched", `${named(from)} does not exist; nothing was changed.`);
  }
  if (isMoved && (await ordinaryType(guard, source)) === "directory") {
    throw failure("in_the_way", `${named(from)} is a directory; nothing was changed.`);
  }
  const content =
    hunks.length > 0 || action === "delete" ? await patched(context, patch) : undefined;
  if (action === "delete") {
    const plan = await planDelete(context, to, { recursive: false, signal });
    if (plan.question !== undefined || plan.type === "directory" || content?.isEmpty !== true) {
      throw failure(
        "not_deleted",
        `${named(to)} is not deleted by this patch; nothing was changed.`,
      );
    }
    return { ...step, run: (inside) => deletePlanned(inside, plan, signal) };
  }
  const isWhole = action === "copy" && content !== undefined;
  const run = async (inside: ChangeContext) => {
    if (isMoved && !isWhole) {
      await createDirectory(inside, dirname(to));
      const moved = { source: from, destination: to, overwrite: false, signal };
      await (action === "rename" ? move(inside, moved) : copy(inside, moved));
    }
    if (content !== undefined) {
      const { bytes, before } = content;
      const copied = { action: "copy", before: undefined, createParents: true } as const;
      const replacement = isWhole ? copied : ({ action: "edit", before } as const);
      await lock(() => replaceContent(inside, { ...replacement, path: to, bytes, signal }));
    }
    // A copy with changes is a new file, which gets the permission of its source.
    const isCopied = isWhole && ((source.stat?.mode ?? 0) & 0o100) !== 0;
    await setMode(inside, executable ?? (isCopied ? true : undefined));
  };
  return { ...step, run };
}

/** Throws `conflict` if something is at `path`, where the patch creates a file. */
async function checkFree({ guard }: ChangeContext, path: string): Promise<void> {
  const place = await placeOf(guard, path, { write: true }).catch((error: unknown) => {
    if (!(error instanceof ToolError) || error.kind !== "not_found") throw error;
  });
  if (place?.stat === undefined) return;
  throw failure("in_the_way", `${named(path)} already exists; nothing was changed.`);
}

/** The source file of a patch with its hunks applied. */
async function patched(context: ChangeContext, patch: FilePatch) {
  const found = await readEditable(context, patch.from);
  if (found === undefined) {
    throw failure("not_patched", `${named(patch.from)} does not exist; nothing was changed.`);
  }
  const { before, bytes, form } = found;
  const text = decode(bytes, form);
  // Line endings are compared too if the patch has those of the file, else each line keeps the ending it has.
  const isExact = !text.includes("\r") || patch.hunks.some(({ lines }) => lines.some(endsInCr));
  let after = isExact ? appliedTo(text, patch) : undefined;
  if (after === undefined) {
    const plain = unified(text, form.eol);
    const hunks = patch.hunks.map((hunk) => ({
      ...hunk,
      lines: hunk.lines.map((line) => line.replace(/\r$/, "")),
    }));
    const unit = { ...patch, hunks };
    const changed = appliedTo(plain.text, unit) ?? noMatch(plain.text, unit);
    after = plain.restore(changed, differences(plain.text, changed));
  }
  return { before, bytes: encode(after, form), isEmpty: after === "" };
}

const endsInCr = (line: string) => line.endsWith("\r");

/** The text with the hunks applied; undefined if they do not match. */
function appliedTo(text: string, { hunks }: Pick<FilePatch, "hunks">): string | undefined {
  const patch = {
    oldFileName: "",
    newFileName: "",
    oldHeader: undefined,
    newHeader: undefined,
    hunks,
  };
  const after = applyTo(text, patch, { autoConvertLineEndings: false });
  return after === false ? undefined : after;
}

/** Throws the `conflict` for the first hunk that does not match. */
function noMatch(text: string, { hunks, from }: FilePatch): never {
  const index = hunks.findIndex((hunk) => appliedTo(text, { hunks: [hunk] }) === undefined);
  const hunk = hunks[index];
  const which =
    hunk === undefined ? "The hunks together do" : `Hunk ${index + 1} (line ${hunk.oldStart}) does`;
  throw failure("bad_hunk", `${which} not match ${named(from)}; nothing was changed.`);
}
