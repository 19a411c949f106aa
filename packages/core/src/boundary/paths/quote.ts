import { oneLine } from "../../answer/untrusted.ts";

const longest = 300;

/**
 * A path or name inside quotes for a message, on one line whatever it contains, truncated after 300
 * characters.
 */
export function quote(text: string): string {
  return `"${oneLine(text.length > longest ? `${text.slice(0, longest)}…` : text)}"`;
}

/** `a`, `a and b`, `a, b and c`; with more than `most` items: `a, b and 5 more`. */
export function listed(items: readonly string[], most = 10): string {
  const shown = items.slice(0, most);
  const hidden = items.length - shown.length;
  if (hidden > 0) return `${shown.join(", ")} and ${hidden} more`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1) ?? ""}`;
}
