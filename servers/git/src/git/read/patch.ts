import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";

/** A hunk of a patch as git prints it. */
export interface Hunk {
  /**
   * 7 hexadecimal digits of the path and the lines, and the lines of context unless these are 3:
   * `3fa01c2`, `3fa01c2u1`. Empty for files whose hunks cannot be chosen.
   */
  readonly id: string;
  readonly path: string;
  /** The lines of the file before its first hunk, as Latin-1. */
  readonly fileHeader: string;
  /** The numbers in its header: where it begins on both sides, and how many lines it has there. */
  readonly before: { readonly line: number; readonly count: number };
  readonly after: { readonly line: number; readonly count: number };
  /** Its lines, with line breaks. */
  readonly body: Buffer;
  /** The byte of the patch at which its header begins. */
  readonly at: number;
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** The beginning of a file in a patch. Content begins with a space, `+`, `-` or `\`. */
export const FILE_START = /^(diff --|\* Unmerged path)/;

/** Splits a patch into hunks; the counts in their headers show what is content. */
export function* hunksIn(patch: Buffer, context: number): Generator<Hunk> {
  // One character is one byte.
  const text = patch.toString("latin1");
  const lineEnd = (start: number) => {
    const end = text.indexOf("\n", start);
    return end === -1 ? text.length : end + 1;
  };
  const counts = new Map<string, number>();
  let fileHeader = "";
  let path = "";
  for (let at = 0; at < text.length; ) {
    const start = lineEnd(at);
    const line = text.slice(at, start);
    const numbers = HEADER.exec(line)
      ?.slice(1)
      .map((number = "1") => Number(number));
    if (numbers === undefined) {
      fileHeader = FILE_START.test(line) ? line : fileHeader + line;
      path = pathOf(fileHeader);
      at = start;
      continue;
    }
    const [before = 0, removed = 0, after = 0, added = 0] = numbers;
    let [left, right, end] = [removed, added, start];
    while (end < text.length && (left > 0 || right > 0 || text[end] === "\\")) {
      if (text[end] !== "+" && text[end] !== "\\") left--;
      if (text[end] !== "-" && text[end] !== "\\") right--;
      end = lineEnd(end);
    }
    const body = patch.subarray(start, end);
    const key = digest(path, body);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    // The same lines twice in a file are counted.
    const name = digest(`${path}\0${count}`, key).slice(0, 7);
    const id = path === "" ? "" : `${name}${context === 3 ? "" : `u${context}`}`;
    const sides = {
      before: { line: before, count: removed },
      after: { line: after, count: added },
    };
    yield { id, path, fileHeader, ...sides, body, at };
    at = end;
  }
}

/** The path in a file's header; empty for a rename, a submodule, a conflict, or an unusual name. */
function pathOf(header: string): string {
  const sides = [...header.matchAll(/^(?:---|\+\+\+) (.*)$/gm)].map(([, name = ""]) => name);
  const name = sides.findLast((side) => side !== "/dev/null") ?? "";
  const isOther = /^(rename|copy) from |^(index|new file|deleted file).* 160000$/m.test(header);
  // git puts special characters in quotes, and a tab after a name with spaces.
  if (!header.startsWith("diff --git ") || isOther || !/^[ab]\//.test(name)) return "";
  const bytes = Buffer.from(name.slice(2).replace(/\t$/, ""), "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : "";
}

function digest(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
