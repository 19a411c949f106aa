import type { GuardedFile, PathGuard } from "@refmcp/boundary";
import { grouped, type ToolError } from "@refmcp/boundary/answer";
import { counted, failure, named } from "../errors.ts";
import { binary, CHUNK_BYTES } from "../read/bytes.ts";
import { formOf, Lines, type Source, sourceOf } from "../read/lines.ts";
import type { TextForm } from "../read/text-encoding.ts";

/** Lines of a file, which become lines of another one. All parts of a call are of the same file. */
export interface Part {
  readonly path: string;
  /** The first line, from 1; by default the first one. */
  readonly from?: number | undefined;
  /** The last line; by default the last one of the file. */
  readonly to?: number | undefined;
}

interface PartsSource {
  readonly file: GuardedFile;
  readonly source: Source;
  readonly form: TextForm;
}

/**
 * Opens the file whose lines the parts are; the caller closes it.
 *
 * @throws ToolError `invalid` for parts of different files, a binary file, or one whose encoding can only be guessed; and
 *   what the guard throws.
 */
export async function openParts(guard: PathGuard, parts: readonly Part[]): Promise<PartsSource> {
  const [{ path } = { path: "" }] = parts;
  for (const { path: other, from = 1, to = from } of parts) {
    if (other !== path) throw failure("bad_part", "All parts must be lines of the same file.");
    if (to < from)
      throw failure(
        "bad_part",
        `The part of ${named(path)} ends (${to}) before it begins (${from}).`,
      );
  }
  const file = await guard.openFile(path);
  try {
    const source = await sourceOf(file);
    const form = await formOf(source);
    if (form === undefined)
      throw binary(
        file.path,
        "Only lines of text can be parts; to copy other files use copy_file.",
      );
    if (form.weak === true) {
      throw failure(
        "guessed_encoding",
        `${named(file.path)} is not UTF-8, and its encoding can only be guessed (${form.encoding}); nothing was written.`,
      );
    }
    return { file, source, form };
  } catch (error) {
    await file.handle.close();
    throw error;
  }
}

/**
 * The text of all parts in order, unchanged and in pieces. A part whose last line has no line ending gets one if
 * another part follows.
 *
 * @param notes gets what the caller should know about the parts.
 * @throws ToolError `invalid` for a part that begins past the end, or text that is not valid in the file's encoding.
 */
export async function* joined(
  opened: PartsSource,
  parts: readonly Part[],
  notes: Set<string>,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const { file, source, form } = opened;
  if (!form.encoding.startsWith("utf-"))
    notes.add(`${named(file.path)} was read as ${form.encoding}.`);
  const lines = new Lines(source, form, signal);
  const end = form.eol === "crlf" ? "\r\n" : form.eol === "cr" ? "\r" : "\n";
  for (const [index, { from = 1, to = Number.POSITIVE_INFINITY }] of parts.entries()) {
    const first = await lines.skip(lines.start, from - 1);
    if (from > 1 && first.position >= source.size) throw pastEnd(file.path, from, first.lines);
    let stop = source.size;
    if (to < Number.POSITIVE_INFINITY) {
      const last = await lines.skip(first.position, to - from + 1);
      stop = last.position;
      const total = from - 1 + last.lines;
      if (total < to) notes.add(`${hasLines(file.path, total)}, fewer than ${grouped(to)}.`);
    }
    let isEnded = true;
    for await (const text of decoded(opened, first.position, stop, signal)) {
      if (text !== "") isEnded = text.endsWith(end.slice(-1));
      yield text;
    }
    if (!isEnded && index < parts.length - 1) yield end;
  }
}

const hasLines = (path: string, total: number): string =>
  `${named(path)} has ${counted(total, "line")}`;

function pastEnd(path: string, from: number, total: number): ToolError {
  const hint = total === 0 ? "The file is empty." : `Use lines from 1 to ${grouped(total)}.`;
  const what = `${hasLines(path, total)}; the part begins at line ${grouped(from)}.`;
  return failure("past_end", what, { hint });
}

/** The text of the bytes from `from` to `to`. */
async function* decoded(
  { file, source, form: { encoding } }: PartsSource,
  from: number,
  to: number,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  try {
    for (let at = from; at < to; at += CHUNK_BYTES) {
      signal?.throwIfAborted();
      const bytes = await source.read(at, Math.min(CHUNK_BYTES, to - at));
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    const what = `${named(file.path)} is not valid ${encoding} text throughout.`;
    throw failure("not_preserved", what, { cause });
  }
}
