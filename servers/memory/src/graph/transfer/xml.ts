/** Escapes text for XML; characters that XML 1.0 forbids (NUL, most control characters) become U+FFFD. */
export function xml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that XML forbids.
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
  const named: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  const valid = text.toWellFormed().replace(forbidden, "\ufffd");
  return valid.replace(/[&<>"\n\r\t]/g, (found) => named[found] ?? `&#${found.charCodeAt(0)};`);
}
