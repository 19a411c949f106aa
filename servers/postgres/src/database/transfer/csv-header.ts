import { ToolError } from "@refmcp/core/answer";
import type { ReadHandle } from "@refmcp/core/boundary";

/** A header line longer than this is none. */
const LONGEST = 1_048_576;

/**
 * The column names in the first line of a CSV file, and where it starts: after a byte order mark, if there is one.
 *
 * @throws ToolError `invalid` where the file is empty, not UTF-8 text, or its first line is no header.
 */
export async function readHeader(
  handle: ReadHandle,
  delimiter: string,
  path: string,
): Promise<{ columns: string[]; start: number }> {
  const buffer = Buffer.alloc(LONGEST);
  const { bytesRead } = await handle.read(buffer, 0, LONGEST, 0);
  const bytes = buffer.subarray(0, bytesRead);
  const start = bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? 3 : 0;
  const columns = fieldsOf(bytes.subarray(start).toString("utf8"), delimiter);
  if (
    columns === undefined ||
    columns.some((name) => name === "" || name.includes("\0") || name.includes("\ufffd"))
  )
    throw invalid(path, "does not begin with a line of column names");
  const repeated = columns.find((name, index) => columns.indexOf(name) !== index);
  if (repeated !== undefined)
    throw invalid(path, `names the column ${JSON.stringify(repeated.slice(0, 63))} twice`);
  return { columns, start };
}

/** The fields of the first record (RFC 4180); undefined where it does not end. */
function fieldsOf(text: string, delimiter: string): string[] | undefined {
  const fields: string[] = [];
  let field = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (quoted) {
      if (character !== '"') field += character;
      else if (text.charAt(at + 1) === '"') {
        field += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === delimiter) {
      fields.push(field);
      field = "";
    } else if (character === "\n" || character === "\r") return [...fields, field];
    else field += character;
  }
  return quoted || (fields.length === 0 && field === "") || text.length >= LONGEST
    ? undefined
    : [...fields, field];
}

function invalid(path: string, what: string): ToolError {
  return new ToolError("invalid", `${JSON.stringify(path)} ${what}.`, {
    hint: "Give a UTF-8 CSV file whose first line holds the names of columns of the table; set delimiter for ; or tabs.",
  });
}
