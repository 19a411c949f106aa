import { lstat, readFile } from "node:fs/promises";
import type { ChangeContext } from "../change/change-context.ts";
import { readBefore } from "../change/replace-content.ts";
import { type Change, type Step, stepsOf } from "../journal/change-record.ts";
import { imagePath } from "../journal/entries.ts";
import { groupImage } from "../journal/recording.ts";
import { openDocument } from "../read/documents.ts";
import { binary, hashOf, readAt, tooLarge } from "../read/source.ts";
import { textOf } from "../read/text-encoding.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { withLf } from "./changed-ranges.ts";
import { type Diff, type DiffWork, diffTexts } from "./diff.ts";
import { MAX_EDIT_BYTES, MAX_INLINE_BYTES } from "./edit.ts";

export interface CompareRequest {
  readonly from: string;
  readonly to: string;
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

/** A diff, and other differences than lines (`encoding`, `byte order mark`, `line endings`). Paths are absolute. */
export type Comparison = Diff & { from: string; to: string; forms: readonly string[] };

/**
 * The unified diff from one text file or document to another, whatever their encodings and line endings.
 *
 * @throws ToolError `invalid` for a binary file that is not a document, `too_large` beyond 32 MiB.
 */
export async function compareFiles(
  context: ChangeContext,
  { from, to, maxChars, signal }: CompareRequest,
): Promise<Comparison> {
  const [one, other] = [await readText(context, from, signal), await readText(context, to, signal)];
  const work = {
    oldName: one.path,
    newName: other.path,
    before: one.text,
    after: other.text,
    maxChars,
  };
  // The form of a document is not that of its text.
  const differs = (fact: "encoding" | "bom" | "eol", what: string) =>
    !one.form || !other.form || one.form[fact] === other.form[fact] ? [] : [what];
  const forms = [
    ...differs("encoding", "encoding"),
    ...differs("bom", "byte order mark"),
    ...differs("eol", "line endings"),
  ];
  return {
    from: one.path,
    to: other.path,
    forms,
    ...(await diffSomewhere(context.threads, work, signal)),
  };
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

async function readText({ guard, documents }: ChangeContext, given: string, signal?: AbortSignal) {
  const { file, part } = await openDocument(guard, given);
  try {
    const { path, stat } = file;
    const found =
      stat.size > MAX_EDIT_BYTES ? undefined : await textOf(await readAt(file, 0, stat.size));
    const document = await documents.textOf(file, { part, sniff: found === undefined, signal });
    if (document !== undefined) return { path, text: Buffer.from(document.bytes).toString("utf8") };
    if (stat.size > MAX_EDIT_BYTES) {
      const hint = "Read the relevant parts with read_text_file.";
      throw tooLarge(path, stat.size, MAX_EDIT_BYTES, "are compared", hint);
    }
    if (found === undefined)
      throw binary(
        path,
        "Only text and documents are compared; get_file_info has the sizes and hashes of other files.",
      );
    return { path, text: withLf(found.text), form: found.form };
  } finally {
    await file.handle.close();
  }
}

/**
 * The unified diff of a change to text files. The new content is the file's current one, or the one that the next
 * change replaced. Undefined if neither is known, or if it is not text.
 */
export async function diffOfChange(
  context: ChangeContext,
  change: Change,
  maxChars: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let text: string | undefined;
  for (const step of stepsOf(change)) {
    const remaining = maxChars - (text?.length ?? 0);
    if (remaining <= 0) break;
    const diff = await diffOfStep(context, change.id, step, remaining, signal);
    if (diff !== undefined) text = (text ?? "") + diff;
  }
  return text;
}

async function diffOfStep(
  context: ChangeContext,
  id: string,
  step: Step,
  maxChars: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { effect, path } = step;
  let [before, after]: (Buffer | undefined)[] = [Buffer.alloc(0), Buffer.alloc(0)];
  if (effect?.kind === "replaced" && effect.after.type === "appended") {
    const { from, size, tail } = effect.after;
    after = (await contentNow(context, path))?.bytes?.subarray(0, size);
    if (after === undefined || hashOf(after.subarray(from)) !== tail) return undefined;
    before = after.subarray(0, from);
  } else if (effect?.kind === "replaced" || effect?.kind === "created") {
    if (effect.after.type !== "file") return undefined;
    after = await contentAfter(context, id, path, effect.after.hash);
    if (effect.kind === "replaced") before = await imageOf(context, id, step);
  } else if (effect?.kind === "removed") before = await imageOf(context, id, step);
  else return undefined;
  const texts = { before: await linesOf(before), after: await linesOf(after) };
  if (texts.before === undefined || texts.after === undefined) return undefined;
  const work = { oldName: path, newName: path, before: texts.before, after: texts.after, maxChars };
  return (await diffSomewhere(context.threads, work, signal)).text;
}

const contentNow = (context: ChangeContext, path: string) =>
  readBefore(context, path, { max: MAX_EDIT_BYTES, hash: false }).catch(() => undefined);

async function contentAfter(context: ChangeContext, id: string, path: string, hash: string) {
  const now = await contentNow(context, path);
  if (now?.hash === hash) return now.bytes;
  for (const later of await context.journal.list({ below: path, limit: 100 })) {
    if (later.id <= id) break;
    const step = stepsOf(later).find((one) => one.path === path);
    const image = step && (await imageOf(context, later.id, step));
    if (image !== undefined && hashOf(image) === hash) return image;
  }
  return undefined;
}

/** Undefined for a directory, or a change without an image. */
async function imageOf(
  { journal }: ChangeContext,
  id: string,
  step: Step,
): Promise<Buffer | undefined> {
  const { image: number, trash } = step;
  const image = imagePath((await journal.get(id)).directory, id);
  const path = trash ?? (number === undefined ? image : groupImage(image, number));
  if (trash !== undefined && !journal.trash.isTrash(trash)) return undefined;
  const stat = await lstat(path).catch(() => undefined);
  return stat?.isFile() && stat.size <= MAX_EDIT_BYTES ? readFile(path) : undefined;
}

async function linesOf(bytes: Buffer | undefined): Promise<string | undefined> {
  const found = bytes && (await textOf(bytes));
  return found && withLf(found.text);
}
