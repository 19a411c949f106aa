import { join } from "node:path";
import { startDeadline } from "@refmcp/boundary";
import { digits, oneLine, ToolError } from "@refmcp/boundary/answer";
import { receiptText } from "../change/answer.ts";
import { run } from "../change/run.ts";
import type { Step } from "../change/step.ts";
import { counted, failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { lockPath, notThere, withDirectory } from "../open-path.ts";
import { binary, checkExpected, hashOf, readBefore, tooLarge } from "../read/bytes.ts";
import { decodesBack, formOfText } from "../read/text-encoding.ts";
import { compileGlob } from "../search/glob.ts";
import { ignoreRules } from "../search/ignore.ts";
import { walk } from "../tree/walk.ts";
import { type DiffAnswer, lineCounts } from "./diff.ts";
import { type Edit, type EditOptions, editBytes } from "./edit-text.ts";

/** Maximum bytes of a file that is edited, since several copies are kept in memory. */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;
/** Up to this size an edit takes a few milliseconds; a larger file is edited in a thread. */
export const MAX_INLINE_BYTES = 256 * 1024;
const EDIT_MS = 20_000;
/** Maximum files searched in one call, and files changed in one. */
const MAX_FILES = 20_000;
const MAX_CHANGED = 500;
/** How many files are listed individually if their diffs do not fit. */
const MAX_NAMED = 100;

export interface EditRequest extends EditOptions {
  readonly path: string;
  readonly edits: readonly Edit[];
  readonly dryRun: boolean;
  readonly expected_hash?: string | undefined;
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

type Edited = Awaited<ReturnType<typeof edit>>;

/**
 * Replaces parts of a text file, all edits or none. Encoding, byte order mark and line endings are preserved;
 * outside the edited ranges no byte changes.
 *
 * @throws ToolError `not_found` and `invalid` for an `oldText` that does not match once, `conflict` if the file is
 *   not the expected one or changes concurrently, `too_large` beyond 32 MiB, and what the guard throws
 */
export async function edit(files: Files, request: EditRequest) {
  const { dryRun, signal } = request;
  const path = await files.guard.resolve(request.path);
  const editLocked = async () => {
    const { step, hash, ...edited } = await planEdit(files, path, request);
    if (step === undefined || dryRun) return { ...edited, hash, receipt: undefined };
    const subject = { action: "edit", path } as const;
    const { receipt } = await run(files, subject, [step], { signal, isLocked: true });
    return { ...edited, hash, receipt };
  };
  return files.locks.hold([await lockPath(files.guard, path, true)], editLocked, signal);
}

/** Computes an edit; `step` makes it, unless it changes nothing. */
async function planEdit(files: Files, path: string, request: EditRequest) {
  const { edits, replace_all, regex, skipMissing, maxChars, signal } = request;
  const { before, bytes, form } =
    (await readEditable(files, path)) ?? (await notThere(files.guard, path));
  checkExpected(path, before, request.expected_hash);
  const work = { path, bytes, form, edits, replace_all, regex, skipMissing, maxChars };
  const inThread = () => {
    const seconds = EDIT_MS / 1000;
    const what = `The edits of ${named(path)} took more than ${seconds} s; nothing was changed.`;
    const deadline = startDeadline(EDIT_MS, signal, () => failure("edits_too_slow", what));
    return files.threads.run("edit", work, deadline.signal).finally(deadline.end);
  };
  const { after, ...outcome } =
    bytes.length <= MAX_INLINE_BYTES && regex !== true ? editBytes(work) : await inThread();
  const content = after && ({ kind: "bytes", bytes: after, before: before.stat } as const);
  const step: Step | undefined = content && { kind: "put", path: before.path, content };
  return {
    path,
    before,
    ...outcome,
    hash: hashOf(after ?? bytes),
    step,
  };
}

/**
 * Reads a text file to edit; undefined if it does not exist.
 *
 * @throws ToolError `invalid` for a binary file, or one that cannot be written back byte for byte, `too_large`
 *   beyond 32 MiB
 */
async function readEditable(files: Files, path: string) {
  const before = await readBefore(files.guard, path, { max: MAX_EDIT_BYTES });
  if (before === undefined) return undefined;
  const { bytes, stat } = before;
  if (bytes === undefined) {
    const hint =
      "Copy the part to change to a separate file, or ask the user to edit it with another program.";
    throw tooLarge(path, [stat.size, MAX_EDIT_BYTES], "are edited", hint);
  }
  const form = formOfText(bytes, { whole: true });
  if (form === undefined) throw binary(path);
  if (!decodesBack(bytes, form)) {
    const what = `${form.encoding} text that cannot be written back byte for byte`;
    throw failure("not_preserved", `${named(path)} is ${what}.`);
  }
  return { before, bytes, form };
}

interface EditManyRequest extends Omit<EditRequest, "expected_hash"> {
  /** Selects files below the directory `path`; ignored files are excluded. */
  readonly glob: string;
}

/**
 * Makes the same edits in all files below a directory that contain any of the texts, as one change: in all of them, or
 * in none if one fails. All results are computed before the first file is changed; then each file is changed only if it
 * has not changed since it was read.
 *
 * @throws ToolError as `edit` does, `not_found` if no file contains one of the texts, `too_large` for too many files
 */
export async function editMany(files: Files, request: EditManyRequest) {
  const { edits, dryRun, signal } = request;
  const unseen = new Set(edits);
  const edited: Awaited<ReturnType<typeof planEdit>>[] = [];
  for (const path of await filesBelow(files, request)) {
    signal?.throwIfAborted();
    const file = await planEdit(files, path, { ...request, skipMissing: true }).catch(orUneditable);
    if (file === undefined) continue;
    for (const [index, edit] of edits.entries())
      if (!file.missing.includes(index)) unseen.delete(edit);
    if (file.step === undefined) continue;
    if (edited.length === MAX_CHANGED) throw tooMany(`more than ${MAX_CHANGED} files would change`);
    edited.push(file);
  }
  const [missing] = unseen;
  if (missing !== undefined) {
    const text = JSON.stringify(missing.oldText.slice(0, 120));
    throw failure("in_no_file", `No file contains oldText ${text}.`);
  }
  if (dryRun) return { files: edited, receipt: undefined };
  const subject = { action: "edit", path: await files.guard.resolve(request.path) } as const;
  const steps = edited.flatMap(({ step }) => step ?? []);
  const { receipt } = await run(files, subject, steps, { signal });
  return { files: edited, receipt };
}

/** Files that are not text, or too large, are not searched. */
function orUneditable(error: unknown): undefined {
  const isSkipped = error instanceof ToolError && /^(?:binary|too_large)$/.test(error.code ?? "");
  if (!isSkipped) throw error;
}

async function filesBelow(
  { guard, ignored }: Files,
  { path, glob: text, signal }: EditManyRequest,
): Promise<string[]> {
  const glob = compileGlob(text);
  return withDirectory(guard, path, async (root) => {
    const ignore = await ignoreRules(guard, root, ignored);
    const targets: string[] = [];
    await walk(guard, root, { signal, ignore }, ({ path, name, type }) => {
      if (type === "file" && glob.matches(path, name, false)) targets.push(join(root.path, path));
      return targets.length > MAX_FILES ? "stop" : undefined;
    });
    if (targets.length <= MAX_FILES) return targets;
    throw tooMany(`more than ${digits(MAX_FILES)} files below ${named(path)} match the glob`);
  });
}

function tooMany(what: string): ToolError {
  return failure("too_many_files", `Nothing was changed: ${what}.`);
}

/** The server's own line, in square brackets, which cannot be mistaken for a line of a diff. */
export const factsLine = (...facts: readonly string[]) => `[${facts.join(" ")}]`;

export const hiddenFacts = (hunks: number) =>
  hunks === 0 ? [] : [`${counted(hunks, "hunk is", "hunks are")} not shown.`];

export function editAnswer(edited: Edited, dryRun: boolean): DiffAnswer {
  const { diff, hiddenHunks, replacements, hash } = edited;
  const places = counted(replacements, "place");
  const done = dryRun ? `Would replace ${places}; nothing was changed` : `Replaced ${places}`;
  const facts = [
    `${done} (${lineCounts(edited)}).`,
    ...hiddenFacts(hiddenHunks),
    `Hash ${hash}.`,
    ...receiptText(edited.receipt),
  ];
  return { diff, rest: factsLine(...facts), remark: facts[0] ?? "" };
}

/** The diffs of many files as far as they fit, then one line for each of the other files. */
export function editManyAnswer(
  { files, receipt }: Awaited<ReturnType<typeof editMany>>,
  { dryRun, maxChars }: { dryRun: boolean; maxChars: number },
): DiffAnswer {
  let remaining = maxChars;
  const diffs = files.map(({ diff }) => {
    remaining -= diff.length;
    return remaining > 0 ? diff : undefined;
  });
  const visibleFiles = dryRun ? files.filter((_, index) => diffs[index] === undefined) : files;
  const lines = visibleFiles
    .slice(0, MAX_NAMED)
    .map((file) => `${oneLine(file.path)}: ${lineCounts(file)}.\n`);
  const more = visibleFiles.length - MAX_NAMED;
  if (more > 0) lines.push(`… and ${digits(more)} more.\n`);
  const replaced = files.reduce((sum, { replacements }) => sum + replacements, 0);
  const places = `${counted(replaced, "place")} in ${counted(files.length, "file")}`;
  const done = dryRun ? `Would replace ${places}; nothing was changed.` : `Replaced ${places}.`;
  const rest = lines.join("") + factsLine(done, ...receiptText(receipt));
  return { diff: diffs.join(""), rest, remark: [...lines, done].join("") };
}
