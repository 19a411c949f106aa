import type { GuardedFile } from "@refmcp/boundary";
import { grouped } from "@refmcp/boundary/answer";
import type { ChangeContext } from "../change/change-context.ts";
import { counted, failure, named } from "../messages.ts";
import { openDocument } from "../read/documents.ts";
import { binary, chunksOf, formOf, sourceOf } from "../read/source.ts";
import { type Encoding, type Eol, encodingNamed } from "../read/text-encoding.ts";

type Context = Pick<ChangeContext, "guard" | "documents">;

/** A piece of a new file: text, or lines of a file or document. */
export interface Part {
  readonly path?: string | undefined;
  /** The first line, from 1; by default the first one. */
  readonly from?: number | undefined;
  /** The last line; by default the last one of the file. */
  readonly to?: number | undefined;
  /** The file's encoding, if it is not UTF-8 or UTF-16. */
  readonly encoding?: string | undefined;
  readonly text?: string | undefined;
}

/**
 * Checks that every part can be read, before anything is written.
 *
 * @returns the number of bytes to read at most.
 * @throws ToolError `invalid` for a part that is not exactly one of text and lines of a file, for a binary file, or for
 *   one whose encoding can only be guessed; and what the guard throws.
 */
export async function checkParts(context: Context, parts: readonly Part[], signal?: AbortSignal) {
  let bytes = 0;
  for (const part of parts) {
    const { path, text, from = 1, to = from } = part;
    if (
      (path === undefined) === (text === undefined) ||
      (text !== undefined && (part.from ?? part.to ?? part.encoding) !== undefined)
    )
      throw failure("bad_part", "Each part needs either path, with from and to, or text.");
    if (to < from)
      throw failure(
        "bad_part",
        `The part of ${named(path ?? "")} ends (${to}) before it begins (${from}).`,
      );
    if (text !== undefined) bytes += text.length;
    else {
      const { file, converted } = await openPart(context, part, signal);
      bytes += converted?.length ?? file.stat.size;
      await file.handle.close();
    }
  }
  return bytes;
}

interface OpenedPart {
  readonly file: GuardedFile;
  readonly encoding: Encoding;
  readonly eol: Eol;
  /** The text of a document. */
  readonly converted?: Uint8Array;
  /** How the bytes became text, if that is not obvious. */
  readonly note?: string;
}

/** Opens the file of a part; the caller closes it. */
async function openPart(
  { guard, documents }: Context,
  { path = "", encoding: label }: Part,
  signal?: AbortSignal,
): Promise<OpenedPart> {
  const given = label === undefined ? undefined : encodingNamed(label);
  const { file, part } = await openDocument(guard, path);
  try {
    const form = await formOf(await sourceOf(file), given);
    // Mail, notebooks and RTF are text already, so they are joined unchanged.
    const isText = form !== undefined && part === undefined;
    const document = isText
      ? undefined
      : await documents.textOf(file, { part, sniff: true, signal });
    if (document !== undefined) {
      const note = `${named(file.path)} was converted to text.`;
      return { file, encoding: "utf-8", eol: "lf", converted: document.bytes, note };
    }
    if (form === undefined)
      throw binary(
        file.path,
        "Only text and documents can be parts; to copy other files use copy_file.",
      );
    const { encoding, eol, weak } = form;
    if (weak === true) {
      throw failure(
        "guessed_encoding",
        `${named(file.path)} is not UTF-8, and its encoding can only be guessed (${encoding}); nothing was written.`,
      );
    }
    const isClear = given !== undefined || encoding.startsWith("utf-");
    return {
      file,
      encoding,
      eol,
      ...(isClear ? {} : { note: `${named(file.path)} was read as ${encoding}.` }),
    };
  } catch (error) {
    await file.handle.close();
    throw error;
  }
}

/**
 * The text of all parts in order, in pieces. Encodings are converted, the line endings of the first file apply to all,
 * and a part whose last line has no line ending gets one if another part follows.
 *
 * @param notes gets what the caller should know about the parts.
 */
export async function* joined(
  context: Context,
  parts: readonly Part[],
  notes: Set<string>,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  let eol: Eol | undefined;
  for (const [index, part] of parts.entries()) {
    if (part.text !== undefined) {
      yield part.text;
      continue;
    }
    const { file, encoding, converted, note, ...form } = await openPart(context, part, signal);
    try {
      if (note !== undefined) notes.add(note);
      if (eol === undefined || eol === "none") eol = form.eol;
      const end = eol === "crlf" ? "\r\n" : "\n";
      const pieces =
        converted === undefined ? decoded(file, encoding, signal) : [textOf(converted)];
      const { total, isEnded } = yield* linesOf(part, pieces, end);
      if (total !== undefined) checkRange(file.path, part, total, notes);
      if (!isEnded && index < parts.length - 1) yield end;
    } finally {
      await file.handle.close();
    }
  }
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");

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
      throw failure("not_kept", `${named(file.path)} is not valid ${encoding} text throughout.`, {
        cause,
      });
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
  pieces: AsyncIterable<string> | Iterable<string>,
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
