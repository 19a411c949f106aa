import { isUtf8 } from "node:buffer";
import { fitting, oneLine, ToolError } from "@refmcp/boundary/answer";

export { counted } from "@refmcp/boundary/answer";

/**
 * Decodes bytes as UTF-8. A line that is not UTF-8 is read as Latin-1, so that no byte is lost and
 * the rest is still right.
 */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  return bytes
    .toString("latin1")
    .split("\n")
    .map((line) => {
      const part = Buffer.from(line, "latin1");
      return isUtf8(part) ? part.toString("utf8") : line;
    })
    .join("\n");
}

/** Decodes a path: as UTF-8, or in git's quotes with octal escapes if it is not UTF-8. */
export function pathText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = '"';
  for (const byte of bytes) {
    if (byte === 34 || byte === 92) text += `\\${String.fromCharCode(byte)}`;
    else if (byte >= 32 && byte < 127) text += String.fromCharCode(byte);
    else text += `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `${text}"`;
}

/** The letters of C's escapes, from 7 (the bell) to 13. */
const ESCAPES = "abtnvfr";

/**
 * The bytes of a path in git's quotes, `"caf\351.txt"` → `caf<e9>.txt`.
 *
 * @throws ToolError `invalid` for a broken escape
 */
export function unquotePath(quoted: string): Buffer {
  const parts = [...quoted.slice(1, -1).matchAll(/\\(?:([0-3][0-7]{2})|([\s\S]?))|[^\\]+/g)];
  return Buffer.concat(
    parts.map(([text, octal, escaped]) => {
      if (octal !== undefined) return Buffer.of(Number.parseInt(octal, 8));
      if (escaped === undefined) return Buffer.from(text);
      if (escaped === '"' || escaped === "\\") return Buffer.from(escaped);
      if (escaped !== "" && ESCAPES.includes(escaped))
        return Buffer.of(7 + ESCAPES.indexOf(escaped));
      throw new ToolError("invalid", `The path ${quoted} has an invalid escape.`, {
        code: "bad_path",
        hint: "Pass the path exactly as git_status or git_list_files returned it.",
      });
    }),
  );
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

/** Reads `mode oid stage TAB path`, a record of `ls-files --stage -z` and of `merge-tree -z`. */
export function stagedEntry(record: Buffer) {
  const tab = record.indexOf(9);
  const [mode = "", oid = "", stage = ""] = record.toString("latin1", 0, tab).split(" ");
  return { mode, oid, stage, path: record.subarray(tab + 1) };
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

/** The first lines that fit into `budget` characters, at least one. */
export function fittingLines(lines: readonly string[], budget: number): string[] {
  return lines.slice(
    0,
    fitting(lines, budget, ({ length }) => length + 1),
  );
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
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/@]*)@/i, (_, scheme: string, login: string) =>
    /^ssh/i.test(scheme) ? `${scheme}${login.split(":", 1)[0] ?? ""}@` : scheme,
  );
}
