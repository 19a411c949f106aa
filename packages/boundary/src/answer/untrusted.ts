/**
 * Characters that can move the cursor, start a line, hide text or turn its direction: C0 and C1 controls, line
 * and paragraph separators, bidirectional controls (Trojan Source, CVE-2021-42574), invisible characters
 * without a use in writing (single joiners have one), and the tag block and the later variation selectors, which
 * models read and people do not see.
 */
const UNSAFE =
  /[\p{Cc}\p{Zl}\p{Zp}\u{61c}\u{180e}\u{200b}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffb}\u{e0000}-\u{e007f}]|[\u{200c}\u{200d}]{2,}|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]+/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const codeEscape = (match: string): string =>
  Array.from(match, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`).join("");

/**
 * Untrusted text (a file name, a branch, a title) for one line of our own: characters that could forge another line or
 * hide text become escapes, `\n` or `\u{202e}`. Text without such characters is returned unchanged.
 */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(UNSAFE, (match) => SHORT_ESCAPES[match] ?? codeEscape(match));
}

/**
 * Untrusted text of several lines (a commit message, anything for a terminal): like {@link oneLine}, but tabs and line
 * breaks stay, and `\r\n` becomes `\n`.
 */
export function manyLines(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replace(UNSAFE, (match) => (match === "\n" || match === "\t" ? match : oneLine(match)));
}

/** Escapes the same characters in JSON, as JSON does: the parsed value stays the same. */
export function visibleJson(json: string): string {
  return json.replace(UNSAFE, (match) =>
    match === "\n"
      ? match
      : match
          .split("")
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
          .join(""),
  );
}

/**
 * A terminal's escape sequences, CSI and OSC (ECMA-48). Built from strings because Biome rejects controls in a literal.
 */
const TERMINAL = new RegExp(
  [
    "\\u001b(?:",
    "\\[[0-?]*[ -/]*[@-~]",
    "|",
    "\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?",
    ")",
  ].join(""),
  "g",
);

/**
 * Untrusted text of several lines for reading (a web page), where escapes would only be noise: well-formed, with `\n`
 * line endings, without terminal sequences and the characters that {@link manyLines} escapes.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(TERMINAL, "")
    .replace(UNSAFE, (match) => (match === "\n" || match === "\t" ? match : ""));
}
