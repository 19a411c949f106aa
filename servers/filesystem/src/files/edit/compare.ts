import type { PathGuard } from "@refmcp/boundary";
import { withFile } from "../open-path.ts";
import { binary } from "../read/read-text.ts";
import { readAt, tooLarge } from "../read/source.ts";
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
