import type { GuardedFile, PathGuard } from "@refmcp/boundary";
import { grouped } from "@refmcp/boundary/answer";
import { counted, failure, named } from "../errors.ts";
import { binary, chunksOf } from "../read/bytes.ts";
import { formOf, sourceOf } from "../read/lines.ts";
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
    const form = await formOf(await sourceOf(file));
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
    return { file, form };
  } catch (error) {
    await file.handle.close();
    throw error;
  }
}

/**
 * The text of all parts in order, in pieces, as UTF-8 and with the line endings of the file. A part whose last line has no
 * line ending gets one if another part follows.
 *
 * @param notes gets what the caller should know about the parts.
 */
export async function* joined(
  { file, form: { encoding, eol } }: PartsSource,
  parts: readonly Part[],
  notes: Set<string>,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  if (!encoding.startsWith("utf-")) notes.add(`${named(file.path)} was read as ${encoding}.`);
  const end = eol === "crlf" ? "\r\n" : "\n";
  for (const [index, part] of parts.entries()) {
    const { total, isEnded } = yield* linesOf(part, decoded(file, encoding, signal), end);
    if (total !== undefined) checkRange(file.path, part, total, notes);
    if (!isEnded && index < parts.length - 1) yield end;
  }
}

/** @param total the lines of the file. @throws ToolError `invalid` for a part that begins past the end. */
function checkRange(
  path: string,
  { from = 1, to = 0 }: Part,
  total: number,
  notes: Set<string>,
): void {
  const has = `${named(path)} has ${counted(total, "line")}`;
  if (from > 1 && from > total) {
    throw failure("past_end", `${has}; the part begins at line ${grouped(from)}.`, {
      hint: total === 0 ? "The file is empty." : `Use lines from 1 to ${grouped(total)}.`,
    });
  }
  if (to > total) notes.add(`${has}, fewer than ${grouped(to)}.`);
}

/** The text of a file; `\r\n` is never divided between two pieces. */
async function* decoded(
  file: GuardedFile,
  encoding: string,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let rest = "";
  const piece = (bytes?: Uint8Array) => {
    try {
      return (
        rest + (bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }))
      );
    } catch (cause) {
      throw failure(
        "not_preserved",
        `${named(file.path)} is not valid ${encoding} text throughout.`,
        {
          cause,
        },
      );
    }
  };
  for await (const bytes of chunksOf(file, signal)) {
    const text = piece(bytes);
    rest = text.endsWith("\r") ? "\r" : "";
    yield rest === "" ? text : text.slice(0, -1);
  }
  yield piece();
}

/**
 * The lines of a part, with `end` as their line ending.
 *
 * @returns `total`: the lines of the file, if its end was reached; whether the last piece ended its line.
 */
async function* linesOf(
  { from = 1, to = Number.POSITIVE_INFINITY }: Part,
  pieces: AsyncIterable<string>,
  end: string,
): AsyncGenerator<string, { total: number | undefined; isEnded: boolean }> {
  let line = 1;
  let isOpen = false;
  let isEnded = true;
  for await (const piece of pieces) {
    const text = piece.replace(/\r\n?/g, "\n");
    let start = line >= from ? 0 : -1;
    let stop = text.length;
    for (let at = text.indexOf("\n"); at >= 0 && line <= to; at = text.indexOf("\n", at + 1)) {
      line += 1;
      if (line === from) start = at + 1;
      if (line > to) stop = at + 1;
    }
    if (text !== "") isOpen = !text.endsWith("\n");
    const found = start < 0 ? "" : text.slice(start, stop);
    if (found !== "") {
      isEnded = found.endsWith("\n");
      yield end === "\n" ? found : found.replaceAll("\n", end);
    }
    if (line > to) return { total: undefined, isEnded };
  }
  return { total: isOpen ? line : line - 1, isEnded };
}
