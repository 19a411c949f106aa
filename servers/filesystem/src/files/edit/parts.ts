import type { GuardedFile, PathGuard } from "@refmcp/boundary";
import { grouped } from "@refmcp/boundary/answer";
import { failure, named } from "../messages.ts";
import { withFile } from "../open-path.ts";
import { binary, chunksOf, formOf, sourceOf } from "../read/source.ts";
import type { Eol } from "../read/text-encoding.ts";

/** A piece of a new file: text, or lines of a file. */
export interface Part {
  readonly path?: string | undefined;
  /** The first line, from 1; by default the first one. */
  readonly from?: number | undefined;
  /** The last line; by default the last one of the file. */
  readonly to?: number | undefined;
  readonly text?: string | undefined;
}

/**
 * Checks that every part can be read, before anything is written.
 *
 * @returns the number of bytes to read at most.
 * @throws ToolError `invalid` for a part that is not exactly one of text and lines of a file, or for a binary file, and
 * what the guard throws.
 */
export async function checkParts(guard: PathGuard, parts: readonly Part[]): Promise<number> {
  let bytes = 0;
  for (const part of parts) {
    const { path, text, from = 1, to = from } = part;
    if (
      (path === undefined) === (text === undefined) ||
      (text !== undefined && (part.from ?? part.to) !== undefined)
    )
      throw failure("bad_part", "Each part needs either path, with from and to, or text.");
    if (to < from)
      throw failure("bad_part", `The part of ${named(path ?? "")} ends (${to}) before it begins (${from}).`);
    bytes += text?.length ?? (await withFile(guard, path ?? "", sizeOfText));
  }
  return bytes;
}

async function sizeOfText(file: GuardedFile): Promise<number> {
  await formOfFile(file);
  return file.stat.size;
}

async function formOfFile(file: GuardedFile) {
  const source = await sourceOf(file);
  const form = await formOf(source);
  if (form === undefined) throw binary(file.path);
  return form;
}

/**
 * The text of all parts in order, in pieces. Encodings are converted, the line endings of the first file apply to all,
 * and a part whose last line has no line ending gets one if another part follows.
 */
export async function* joined(
  guard: PathGuard,
  parts: readonly Part[],
  signal?: AbortSignal,
): AsyncGenerator<string> {
  let eol: Eol | undefined;
  for (const [index, part] of parts.entries()) {
    if (part.text !== undefined) {
      yield part.text;
      continue;
    }
    const file = await guard.openFile(part.path ?? "");
    try {
      const form = await formOfFile(file);
      if (eol === undefined || eol === "none") eol = form.eol;
      const end = eol === "crlf" ? "\r\n" : "\n";
      let isEnded = true;
      let isEmpty = true;
      for await (const text of linesOf(part, decoded(file, form.encoding, signal), end)) {
        isEnded = text.endsWith("\n");
        isEmpty = false;
        yield text;
      }
      if (isEmpty && (part.from ?? 1) > 1)
        throw failure("past_end", `${named(file.path)} has fewer than ${grouped(part.from ?? 1)} lines.`, {
          hint: "get_file_info counts its lines.",
        });
      if (!isEnded && index < parts.length - 1) yield end;
    } finally {
      await file.handle.close();
    }
  }
}

/** The text of a file; `\r\n` is never divided between two pieces. */
async function* decoded(file: GuardedFile, encoding: string, signal?: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let rest = "";
  const piece = (bytes?: Uint8Array) => {
    try {
      return rest + (bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch (cause) {
      throw failure("not_kept", `${named(file.path)} is not valid ${encoding} text throughout.`, { cause });
    }
  };
  for await (const bytes of chunksOf(file, signal)) {
    const text = piece(bytes);
    rest = text.endsWith("\r") ? "\r" : "";
    yield rest === "" ? text : text.slice(0, -1);
  }
  yield piece();
}

/** The lines of a part, with `end` as their line ending. */
async function* linesOf(
  { from = 1, to = Number.POSITIVE_INFINITY }: Part,
  pieces: AsyncIterable<string>,
  end: string,
): AsyncGenerator<string> {
  let line = 1;
  for await (const piece of pieces) {
    const text = piece.replace(/\r\n?/g, "\n");
    let start = line >= from ? 0 : -1;
    let stop = text.length;
    for (let at = text.indexOf("\n"); at >= 0 && line <= to; at = text.indexOf("\n", at + 1)) {
      line += 1;
      if (line === from) start = at + 1;
      if (line > to) stop = at + 1;
    }
    const found = start < 0 ? "" : text.slice(start, stop);
    if (found !== "") yield end === "\n" ? found : found.replaceAll("\n", end);
    if (line > to) return;
  }
}
