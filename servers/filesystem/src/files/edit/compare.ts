import { readFile } from "node:fs/promises";
import type { PathGuard } from "@refmcp/boundary";
import type { ChangeContext } from "../change/change-context.ts";
import { readBefore } from "../change/replace-content.ts";
import type { Change } from "../journal/change-record.ts";
import { withFile } from "../open-path.ts";
import { binary } from "../read/read-text.ts";
import { hashOf, readAt, tooLarge } from "../read/source.ts";
import { type FormedText, textOf } from "../read/text-encoding.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { type Diff, type DiffWork, diffTexts } from "./diff.ts";
import { MAX_EDIT_BYTES, MAX_INLINE_BYTES } from "./edit.ts";
import { withLf } from "./line-endings.ts";

export interface CompareRequest {
  readonly from: string;
  readonly to: string;
  /** Maximum characters of the diff. */
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Comparison extends Diff {
  /** Absolute paths. */
  readonly from: string;
  readonly to: string;
  /** Other differences than lines: `encoding`, `byte order mark`, `line endings`. */
  readonly forms: readonly string[];
}

/**
 * The unified diff from one text file to another, whatever their encodings and line endings.
 *
 * @throws ToolError `invalid` for a binary file, `too_large` beyond 32 MiB.
 */
export async function compareFiles(
  { guard, threads }: { guard: PathGuard; threads: ThreadPool },
  { from, to, maxChars, signal }: CompareRequest,
): Promise<Comparison> {
  const [one, other] = [await readText(guard, from), await readText(guard, to)];
  const diff = await diffSomewhere(
    threads,
    { oldName: one.path, newName: other.path, before: one.text, after: other.text, maxChars },
    signal,
  );
  const forms = [
    one.form.encoding === other.form.encoding ? "" : "encoding",
    one.form.bom === other.form.bom ? "" : "byte order mark",
    one.form.eol === other.form.eol ? "" : "line endings",
  ].filter((what) => what !== "");
  return { from: one.path, to: other.path, forms, ...diff };
}

/** The diff of two texts; computed in a thread if they are large. */
export async function diffSomewhere(
  threads: ThreadPool,
  work: DiffWork,
  signal?: AbortSignal,
): Promise<Diff> {
  if (work.before.length + work.after.length <= MAX_INLINE_BYTES) return diffTexts(work);
  return threads.run("diff", work, signal);
}

async function readText(guard: PathGuard, path: string): Promise<FormedText & { readonly path: string }> {
  return withFile(guard, path, async (file) => {
    if (file.stat.size > MAX_EDIT_BYTES) {
      const hint = "Read the relevant parts with read_text_file.";
      throw tooLarge(file.path, file.stat.size, MAX_EDIT_BYTES, "are compared", hint);
    }
    const found = await textOf(await readAt(file, 0, file.stat.size));
    if (found === undefined) throw binary(file.path);
    return { path: file.path, text: withLf(found.text), form: found.form };
  });
}

/**
 * The unified diff of a change to a text file. The new content is the file's current one, or the one that the next
 * change replaced. Undefined if neither is known, or if it is not text.
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
  const now = await readBefore(context, path, { max: MAX_EDIT_BYTES, hash: false }).catch(() => undefined);
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
