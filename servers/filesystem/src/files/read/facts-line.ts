import { digits, sizeOf } from "@refmcp/boundary/answer";
import type { TextPart } from "./read-text.ts";

/**
 * The server's own line about a text, in square brackets: what is shown, how to continue, and the file's format. A file
 * can contain such a line, but not as the last line of the answer.
 */
export function factsLine(part: TextPart): string {
  const { text, size, encoding, bom, eol, hash, isDocument, ends, damaged, weak } = part;
  const ending =
    eol === "none"
      ? "no line endings"
      : `${eol === "mixed" ? eol : eol.toUpperCase()} line endings`;
  const form = isDocument
    ? ["converted to text"]
    : [`${encoding}${bom ? " with byte order mark" : ""}`, ending];
  const file = [sizeOf(size), ...form, ...(hash === undefined ? [] : [`hash ${hash}`])];
  const facts = [
    rangeText(part),
    continuation(part),
    ends && text !== "" && !/[\r\n]$/.test(text) ? "No newline at the end of the file." : "",
    damaged ? "Some bytes are not UTF-8 and are shown as U+FFFD; edit_file preserves them." : "",
    weak
      ? "The encoding is a guess; if the text looks wrong, pass encoding, for example gbk, shift_jis or windows-1251."
      : "",
    `File: ${file.join(", ")}.`,
  ];
  return `[${facts.filter((fact) => fact !== "").join(" ")}]`;
}

function rangeText({ startLine, lines, totalLines, isCut, next }: TextPart): string {
  if (lines === 0) return "The file is empty.";
  const of = totalLines === undefined ? "" : ` of ${digits(totalLines)}`;
  if (isCut)
    return next === undefined
      ? `End of the last line${of}.`
      : `Part of line ${digits(next.offset)}${of}.`;
  if (startLine === undefined) return `The last ${digits(lines)} lines.`;
  const end = startLine + lines - 1;
  if (startLine === 1 && end === totalLines)
    return lines === 1 ? "The only line." : `All ${digits(lines)} lines.`;
  const range = lines === 1 ? `Line ${digits(end)}` : `Lines ${digits(startLine)}–${digits(end)}`;
  return `${range}${of}.`;
}

function continuation({ next, leftOut, startLine }: TextPart): string {
  if (next !== undefined)
    return `Continue with offset=${next.offset}${next.column > 1 ? ` column=${next.column}` : ""}.`;
  if (leftOut === 0) return "";
  const from =
    startLine === undefined ? "" : ` Read them with offset=${Math.max(1, startLine - leftOut)}.`;
  return `${digits(leftOut)} earlier lines did not fit.${from}`;
}

/** What to append to a text so that the server's line is on its own line. */
export function onItsOwn(text: string): string {
  return text === "" || text.endsWith("\n") ? "" : "\n";
}
