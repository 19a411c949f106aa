import { lstatSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import type { Change, RecordedStep } from "../change/record.ts";
import type { Files } from "../files.ts";
import { binary, hashOf, readAt, readBefore, tooLarge } from "../read/bytes.ts";
import { openDocument } from "../read/documents.ts";
import { textOf } from "../read/text-encoding.ts";
import type { Threads } from "../threads/thread-pool.ts";
import { type Diff, type DiffWork, diffTexts, lineCounts } from "./diff.ts";
import { factsLine, hiddenFacts, MAX_EDIT_BYTES, MAX_INLINE_BYTES } from "./edit.ts";
import { withLf } from "./line-ends.ts";

export interface CompareRequest {
  readonly from: string;
  readonly to: string;
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

/** A diff, and other differences than lines (`encoding`, `byte order mark`, `line endings`). Paths are absolute. */
type Comparison = Diff & { from: string; to: string; forms: readonly string[] };

/**
 * The unified diff from one text file or document to another, whatever their encodings and line endings.
 *
 * @throws ToolError `invalid` for a binary file that is not a document, `too_large` beyond 32 MiB
 */
export async function compareFiles(
  files: Files,
  { from, to, maxChars, signal }: CompareRequest,
): Promise<Comparison> {
  const [old, now] = [await readText(files, from, signal), await readText(files, to, signal)];
  const texts = { before: old.text, after: now.text };
  const work = { oldName: old.path, newName: now.path, ...texts, maxChars };
  // The form of a document is not that of its text.
  const differs = (fact: "encoding" | "bom" | "eol", what: string) =>
    !old.form || !now.form || old.form[fact] === now.form[fact] ? [] : [what];
  const forms = [
    ...differs("encoding", "encoding"),
    ...differs("bom", "byte order mark"),
    ...differs("eol", "line endings"),
  ];
  const diff = await diffSomewhere(files.threads, work, signal);
  return { from: old.path, to: now.path, forms, ...diff };
}

/** The diff of two texts; computed in a thread if they are large. */
export async function diffSomewhere(
  threads: Threads,
  work: DiffWork,
  signal?: AbortSignal,
): Promise<Diff> {
  if (work.before.length + work.after.length <= MAX_INLINE_BYTES) return diffTexts(work);
  return threads.run("diff", work, signal);
}

async function readText({ guard, documents }: Files, given: string, signal?: AbortSignal) {
  const { file, part } = await openDocument(guard, given);
  try {
    const { path, stat } = file;
    const content =
      stat.size > MAX_EDIT_BYTES ? undefined : await textOf(await readAt(file, 0, stat.size));
    const document = await documents.textOf(file, { part, sniff: true, signal });
    if (document !== undefined) return { path, text: Buffer.from(document.bytes).toString("utf8") };
    if (stat.size > MAX_EDIT_BYTES) {
      const hint = "Read the relevant parts with read_text_file.";
      throw tooLarge(path, stat.size, MAX_EDIT_BYTES, "are compared", hint);
    }
    const hint =
      "Only text and documents are compared; get_file_info has the sizes and hashes of other files.";
    if (content === undefined) throw binary(path, hint);
    return { path, text: withLf(content.text), form: content.form };
  } finally {
    await file.handle.close();
  }
}

export function compareAnswer(comparison: Comparison): string {
  const { text, forms, hiddenHunks, from, to } = comparison;
  const counts = `${lineCounts(comparison)}.`;
  const facts = text === "" ? `${oneLine(from)} and ${oneLine(to)} have the same lines.` : counts;
  const others = forms.length === 0 ? [] : [`They differ in ${forms.join(", ")}.`];
  return text + factsLine(facts, ...hiddenFacts(hiddenHunks), ...others);
}

/**
 * The unified diff of a change to text files. The new content is the file's current one, or the one that a later
 * change replaced. Undefined if neither is known, or if it is not text.
 */
export async function diffOfChange(
  files: Files,
  { id, steps }: Change,
  maxChars: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  let text: string | undefined;
  for (const step of steps) {
    const remaining = maxChars - (text?.length ?? 0);
    if (remaining <= 0) break;
    const contents = await contentsOf(files, id, step);
    const [before, after] = [await linesOf(contents?.before), await linesOf(contents?.after)];
    if (before === undefined || after === undefined) continue;
    const work = { oldName: step.path, newName: step.path, before, after, maxChars: remaining };
    text = (text ?? "") + (await diffSomewhere(files.threads, work, signal)).text;
  }
  return text;
}

const NOTHING = Buffer.alloc(0);

async function contentsOf(files: Files, id: string, step: RecordedStep) {
  if (step.kind === "append") {
    const { from, size_after, digest, path } = step;
    const after = (await contentNow(files, path))?.bytes?.subarray(0, size_after);
    if (after === undefined || hashOf(after.subarray(from)) !== digest) return undefined;
    return { before: after.subarray(0, from), after };
  }
  if (step.kind !== "put") return undefined;
  const { after, image } = step;
  const before = image === undefined ? NOTHING : imageBytes(files, image);
  if (after.type === "nothing") return { before, after: NOTHING };
  if (after.type !== "file") return undefined;
  return { before, after: await contentAfter(files, id, step.path, after.hash) };
}

const contentNow = (files: Files, path: string) =>
  readBefore(files.guard, path, { max: MAX_EDIT_BYTES, hash: false }).catch(() => undefined);

async function contentAfter(files: Files, id: string, path: string, hash: string) {
  const now = await contentNow(files, path);
  if (now?.hash === hash) return now.bytes;
  for (const later of await files.store.list({ below: path, limit: 100 })) {
    if (later.id <= id) break;
    const step = later.steps.find((one) => one.path === path);
    const image = step && "image" in step ? step.image : undefined;
    const bytes = image === undefined ? undefined : imageBytes(files, image);
    if (bytes !== undefined && hashOf(bytes) === hash) return bytes;
  }
  return undefined;
}

/** Undefined for a directory, or an image that is gone or large. */
function imageBytes({ store }: Files, image: string): Buffer | undefined {
  try {
    const own = store.openImage(image);
    try {
      const entry = own.entry(basename(image));
      return lstatSync(entry).size <= MAX_EDIT_BYTES ? readFileSync(entry) : undefined;
    } finally {
      own.close();
    }
  } catch {
    return undefined;
  }
}

async function linesOf(bytes: Buffer | undefined): Promise<string | undefined> {
  const content = bytes && (await textOf(bytes));
  return content && withLf(content.text);
}
