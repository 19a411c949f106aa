/** A text without what Markdown adds to it: marks, escapes, link targets and whitespace. */
export function plainOf(markdown: string): string {
  return markdown
    .replace(/\]\((?:<[^>\n]*>|(?:[^()\s]|\([^()]*\))*)(?:\s"[^"\n]*")?\)/g, "")
    .replace(/^[ \t>]*(?:[-*] )?/gm, "")
    .replace(/[\\*_`[\]¶\s]+/g, "");
}
