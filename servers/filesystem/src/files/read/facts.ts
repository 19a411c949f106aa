import { grouped, sized } from "@refmcp/boundary/answer";
import { counted } from "../wording.ts";
import type { TextPart } from "./read-text.ts";
import type { Eol } from "./text-encoding.ts";

const EOL_WORDS: Readonly<Record<Eol, string>> = {
  lf: "LF line endings",
  crlf: "CRLF line endings",
  cr: "CR line endings",
  mixed: "mixed line endings",
  none: "no line endings",
};

/**
 * The server's own line about a text, in square brackets: what is shown, how to continue, and the file's format. A file
 * can contain such a line, but not as the last line of the answer.
 */
export function factsLine(part: TextPart): string {
  return `[${partFacts(part, true)}]`;
}

/** The same without brackets. `full` adds warnings and the file's size, encoding, line endings and hash. */
export function partFacts(part: TextPart, full: boolean): string {
  const facts = [shown(part), continuation(part)];
  if (full) {
    const encoding = part.bom ? `${part.encoding} with byte order mark` : part.encoding;
    const kind =
      part.pages === undefined
        ? [encoding, EOL_WORDS[part.eol]]
        : [`text of a PDF of ${counted(part.pages, "page")}`];
    const file = [sized(part.size), ...kind];
    if (part.hash !== undefined) file.push(`hash ${part.hash}`);
    facts.push(...warnings(part), `File: ${file.join(", ")}.`);
  }
  return facts.filter((text) => text !== "").join(" ");
}

function shown(part: TextPart): string {
  const { startLine, lines, totalLines, missing } = part;
  if (lines === 0) return "The file is empty.";
  const of = totalLines === undefined ? "" : ` of ${grouped(totalLines)}`;
  if (missing !== undefined) {
    const chars = `${missing.exact ? "" : "over "}${grouped(missing.chars)}`;
    return part.next === undefined
      ? `End of the last line${of}; ${chars} characters precede it.`
      : `Part of line ${grouped(part.next.offset)}${of}; ${chars} more characters follow.`;
  }
  if (startLine === undefined) return `The last ${grouped(lines)} lines.`;
  const end = startLine + lines - 1;
  if (startLine === 1 && end === totalLines)
    return lines === 1 ? "The only line." : `All ${grouped(lines)} lines.`;
  return lines === 1 ? `Line ${grouped(end)}${of}.` : `Lines ${grouped(startLine)}–${grouped(end)}${of}.`;
}

function continuation({ next, leftOut, startLine }: TextPart): string {
  if (next !== undefined) {
    return `Continue with offset=${next.offset}${next.column > 1 ? ` column=${next.column}` : ""}.`;
  }
  if (leftOut === undefined) return "";
  const from = startLine === undefined ? "" : ` Read them with offset=${Math.max(1, startLine - leftOut)}.`;
  return `${grouped(leftOut)} earlier lines did not fit.${from}`;
}

function warnings(part: TextPart): string[] {
  const found: string[] = [];
  if (part.closed === false) found.push("No newline at the end of the file.");
  if (part.damaged) found.push("Some bytes are not UTF-8 and are shown as U+FFFD; edit_file preserves them.");
  if (part.weak) found.push("The encoding is a guess; if the text looks wrong, pass encoding.");
  return found;
}

/** What to append to a text so that the server's line is on its own line. */
export function onItsOwn(text: string): string {
  return text === "" || text.endsWith("\n") ? "" : "\n";
}
