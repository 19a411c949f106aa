import { isUtf8 } from "node:buffer";
import { clip, fitCount, oneLine } from "@refmcp/boundary/answer";

export { countOf } from "@refmcp/boundary/answer";

/** Decodes bytes as UTF-8, or as Latin-1 if they are not UTF-8, so that no byte is lost. */
export function textOf(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
}

/**
 * Decodes a path: as UTF-8, or in git's quotes with octal escapes if it is not UTF-8. The second form
 * is only shown; no tool takes it.
 */
export function pathText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const escaped = bytes
    .toString("latin1")
    .replace(/["\\]/g, "\\$&")
    .replace(/[^ -~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`);
  return `"${escaped}"`;
}

/** Splits NUL-separated records. A last one without a NUL counts if it is not empty. */
export function records(output: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let start = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, start)) {
    fields.push(output.subarray(start, end));
    start = end + 1;
  }
  if (start < output.length) fields.push(output.subarray(start));
  return fields;
}

/** Paths for git's stdin, each followed by a NUL. */
export function nulEnded(paths: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(paths.flatMap((path) => [Buffer.from(path), Buffer.of(0)]));
}

/** The first names for a sentence, as one line, and how many more there are. */
export function firstNames(names: readonly string[], most = 10): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : "";
  return `${names.slice(0, most).map(oneLine).join(", ")}${rest}`;
}

/** NUL-separated fields, `size` for each entry; git puts a line break between entries. */
export function groups(output: Buffer, size: number): string[][] {
  const fields = records(output).map(textOf);
  return Array.from({ length: Math.floor(fields.length / size) }, (_, index) => {
    const [first = "", ...rest] = fields.slice(index * size, (index + 1) * size);
    return [first.replace(/^\n/, ""), ...rest];
  });
}

/** The lines of an output, without empty ones. */
export function linesOf(output: Buffer): string[] {
  return output.toString("utf8").split("\n").filter(Boolean);
}

/** A line of a larger text, and the byte at which it begins there. */
interface TextLine {
  readonly text: string;
  readonly at: number;
  readonly isCut: boolean;
}

/**
 * Lines from a byte on, as many as fit into `budget` characters, at least one.
 *
 * @param markOf what a line at this byte gets at its end
 * @returns the lines, and the byte after them
 */
export function linesAt(
  bytes: Buffer,
  start: number,
  budget: number,
  maxLine: number,
  markOf: (at: number) => string = () => "",
): { lines: TextLine[]; end: number } {
  const lines: TextLine[] = [];
  let at = start;
  for (let used = 0; at < bytes.length; ) {
    const next = bytes.indexOf(10, at);
    const end = next === -1 ? bytes.length : next;
    const whole = textOf(bytes.subarray(at, Math.min(end, at + maxLine * 4)));
    const text = clip(whole, maxLine) + markOf(at);
    used += text.length + 1;
    if (used > budget && lines.length > 0) break;
    lines.push({ text, at, isCut: whole.length > maxLine });
    at = end + 1;
  }
  return { lines, end: at };
}

/** The first lines that fit into `budget` characters, at least one. */
export function fittingLines(lines: readonly string[], budget: number): string[] {
  const count = fitCount(lines, budget, ({ length }) => length + 1);
  return lines.slice(0, count);
}

/** The sentences among these as the notes of an answer; undefined without any. */
export function notesFrom(
  ...notes: readonly (string | false | undefined | readonly string[])[]
): string[] | undefined {
  const all = notes.flat().flatMap((note) => note || []);
  return all.length === 0 ? undefined : all;
}

/** A remote's URL without a login that may be secret; an ssh URL keeps the user name. */
export function withoutPassword(url: string): string {
  return url.replace(/([a-z][a-z0-9+.-]*:\/\/)([^/@\s]*)@/gi, (_, scheme: string, login: string) =>
    /^ssh/i.test(scheme) ? `${scheme}${login.split(":", 1)[0] ?? ""}@` : scheme,
  );
}
