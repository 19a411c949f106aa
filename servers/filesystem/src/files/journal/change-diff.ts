import { readFile } from "node:fs/promises";
import type { ChangeContext } from "../change/change-context.ts";
import { readBefore } from "../change/replace-content.ts";
import { diffSomewhere } from "../edit/compare.ts";
import { MAX_EDIT_BYTES } from "../edit/edit.ts";
import { withLf } from "../edit/line-endings.ts";
import { hashOf } from "../read/source.ts";
import { textOf } from "../read/text-encoding.ts";
import type { Change } from "./change-record.ts";

/**
 * The unified diff of what a change did to a text file. The content after it is that of the file now, or what a later
 * change found there; undefined if neither is known, and for anything but a text.
 */
export async function diffOfChange(
  context: ChangeContext,
  { id, effect, path }: Change,
  maxChars: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let [before, after]: (Buffer | undefined)[] = [Buffer.alloc(0), Buffer.alloc(0)];
  if (effect?.kind === "replaced" || effect?.kind === "created") {
    if (effect.after.type !== "file") return undefined;
    after = await contentAfter(context, id, path, effect.after.hash);
    if (effect.kind === "replaced") {
      before = effect.kept === undefined ? await imageOf(context, id) : after?.subarray(0, effect.kept);
    }
  } else if (effect?.kind === "removed") before = await imageOf(context, id);
  else return undefined;
  const texts = [await linesOf(before), await linesOf(after)];
  if (texts[0] === undefined || texts[1] === undefined) return undefined;
  const names = { oldName: path, newName: path };
  return (
    await diffSomewhere(context.threads, { ...names, before: texts[0], after: texts[1], maxChars }, signal)
  ).text;
}

async function contentAfter(
  context: ChangeContext,
  id: string,
  path: string,
  hash: string,
): Promise<Buffer | undefined> {
  const now = await readBefore(context, path, { most: MAX_EDIT_BYTES, hash: false }).catch(() => undefined);
  if (now?.hash === hash) return now.bytes;
  for (const later of await context.journal.list({ below: path, limit: 100 })) {
    if (later.id <= id) break;
    const image = later.path === path ? await imageOf(context, later.id) : undefined;
    if (image !== undefined && hashOf(image) === hash) return image;
  }
  return undefined;
}

async function imageOf({ journal }: ChangeContext, id: string): Promise<Buffer | undefined> {
  const { directory } = await journal.get(id);
  // A directory, or a change without an image.
  return readFile(journal.imagePath(directory, id)).catch(() => undefined);
}

async function linesOf(bytes: Buffer | undefined): Promise<string | undefined> {
  const found = bytes && (await textOf(bytes));
  return found && withLf(found.text);
}
