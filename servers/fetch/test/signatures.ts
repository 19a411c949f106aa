/** A text without what Markdown adds to it: marks, escapes, link targets and whitespace. */
function plainOf(markdown: string): string {
  return markdown
    .replace(/\]\((?:<[^>\n]*>|(?:[^()\s]|\([^()]*\))*)(?:\s"[^"\n]*")?\)/g, "")
    .replace(/^[ \t>]*(?:[-*] )?/gm, "")
    .replace(/[\\*_`[\]¶\s]+/g, "");
}

/** The signatures that a Markdown text lacks where they belong: each is looked for after the one before it. */
export function missingIn(markdown: string, signatures: readonly string[]): string[] {
  const plain = plainOf(markdown);
  let at = 0;
  return signatures.filter((signature) => {
    const wanted = plainOf(signature);
    const found = plain.indexOf(wanted, at);
    if (found >= 0) at = found + wanted.length;
    return found < 0;
  });
}
