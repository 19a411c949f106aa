import { oneLine, sized, ToolError } from "@refmcp/core/answer";
import { type ChangeContext, lockPath } from "../change/change-context.ts";
import { type Before, checkExpected, readBefore, replaceContent } from "../change/replace-content.ts";
import type { Receipt } from "../journal/recording.ts";
import { binary } from "../read/read-text.ts";
import { hashOf } from "../read/source.ts";
import { decode, decodesBack, encode, formOfText } from "../read/text-encoding.ts";
import { unifiedDiff } from "./diff.ts";
import { type Edit, editText } from "./edit-text.ts";
import { unified } from "./line-endings.ts";

/** The largest file that is edited, in bytes: it is held in memory, several times over. */
const MOST_EDIT_BYTES = 32 * 1024 * 1024;

export interface EditRequest {
  readonly path: string;
  readonly edits: readonly Edit[];
  /** Replaces every occurrence of each `oldText`; otherwise it must occur exactly once. */
  readonly replaceAll: boolean;
  /** Shows what would change, and changes nothing. */
  readonly dryRun: boolean;
  readonly expectedHash?: string | undefined;
  /** Characters of the diff at most. */
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Edited {
  readonly path: string;
  /** Unified; empty where the edits change nothing. */
  readonly diff: string;
  /** Hunks that did not fit into `diff`. */
  readonly hiddenHunks: number;
  readonly added: number;
  readonly removed: number;
  readonly replacements: number;
  /** Of the content after the edits. */
  readonly hash: string;
  /** Undefined where nothing was changed. */
  readonly receipt: Receipt | undefined;
}

/**
 * Replaces parts of a text file, all edits or none. Encoding, byte order mark and line ends stay; outside of the
 * edited places no byte changes.
 *
 * @throws ToolError `not_found` and `invalid` for an `oldText` that does not match once, `conflict` where the file is
 * not the expected one or changes meanwhile, `too_large` beyond 32 MiB, and what the guard throws.
 */
export async function edit(context: ChangeContext, request: EditRequest): Promise<Edited> {
  const path = await context.guard.resolve(request.path);
  const key = await lockPath(context.guard, path);
  return context.locks.hold([key], () => editLocked(context, path, request), request.signal);
}

async function editLocked(context: ChangeContext, path: string, request: EditRequest): Promise<Edited> {
  const { before, bytes } = await readWhole(context, path);
  checkExpected(path, before, request.expectedHash);
  const form = await formOfText(bytes, { whole: true });
  if (form === undefined) throw binary(path);
  const original = decode(bytes, form);
  if (!decodesBack(bytes, original, form)) throw notKept(path, form.encoding);
  const text = unified(original, form.eol);
  const edited = editText(path, text.text, request.edits, request.replaceAll);
  const diff = unifiedDiff(path, text.text, edited.text, edited.regions, request.maxChars);
  const outcome = {
    path,
    diff: diff.text,
    hiddenHunks: diff.hiddenHunks,
    added: diff.added,
    removed: diff.removed,
    replacements: edited.replacements,
  };
  if (edited.regions.length === 0) return { ...outcome, hash: hashOf(bytes), receipt: undefined };
  const after = encode(text.restore(edited.text, edited.regions), form);
  if (request.dryRun) return { ...outcome, hash: hashOf(after), receipt: undefined };
  const { hash, ...receipt } = await replaceContent(context, {
    action: "edit",
    path,
    bytes: after,
    before,
    createParents: false,
    signal: request.signal,
  });
  return { ...outcome, hash, receipt };
}

async function readWhole(context: ChangeContext, path: string): Promise<{ before: Before; bytes: Buffer }> {
  const before = await readBefore(context, path, { most: MOST_EDIT_BYTES, hash: false });
  if (before === undefined) {
    // The guard says best what is near.
    await (await context.guard.openFile(path)).handle.close();
    throw new ToolError("conflict", `"${oneLine(path)}" appeared in this moment.`, { hint: "Retry." });
  }
  if (before.bytes === undefined) {
    throw new ToolError(
      "too_large",
      `"${oneLine(path)}" has ${sized(before.stat.size)}; at most ${sized(MOST_EDIT_BYTES)} are edited.`,
      {
        hint: "Copy the part to change into a file of its own, or ask the user to change it with another program.",
      },
    );
  }
  return { before, bytes: before.bytes };
}

function notKept(path: string, encoding: string): ToolError {
  return new ToolError(
    "invalid",
    `"${oneLine(path)}" is ${encoding} text that cannot be written back byte by byte.`,
    {
      hint: "Read it, then rewrite it as UTF-8 with write_file, or edit it with another program.",
    },
  );
}
