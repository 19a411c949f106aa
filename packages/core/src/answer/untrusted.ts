/**
 * Characters that can move the cursor, start a line, hide text or turn its direction: C0 and C1 controls, line
 * and paragraph separators, bidirectional controls (Trojan Source, CVE-2021-42574), invisible characters
 * without a use in writing (joiners have one), and the tag block, which models read and people do not see.
 */
const UNSAFE =
  /[\p{Cc}\p{Zl}\p{Zp}\u{61c}\u{200b}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2069}\u{feff}\u{e0000}-\u{e007f}]/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Untrusted text (a file name, a branch, a title) for one line of our own: characters that could forge another line or
 * hide text become escapes, `\n` or `\u{202e}`. Text without such characters is returned unchanged.
 */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSAFE, (found) => SHORT_ESCAPES[found] ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}
