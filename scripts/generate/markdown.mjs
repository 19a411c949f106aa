// Markdown from values.

/** A table; cells are text in which `|` and line breaks are harmless. */
export function table(columns, rows) {
  const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  return [columns, columns.map(() => "---"), ...rows]
    .map((row) => `| ${row.map(cell).join(" | ")} |`)
    .join("\n");
}

/** The same, padded so that it is readable as source. */
export function aligned(columns, rows) {
  const widths = columns.map((_, index) => Math.max(...[columns, ...rows].map((row) => row[index].length)));
  const padded = (row) => row.map((text, index) => text.padEnd(widths[index]));
  const [head, , ...body] = table(padded(columns), rows.map(padded)).split("\n");
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body].join("\n");
}

export function fenced(language, text) {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

export const code = (text) => `\`${text}\``;

/** a, b and c */
export function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

export function firstSentence(text) {
  return /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** allowWrite → allow-write */
export function kebab(key) {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * A sentence of at most `most` characters: the whole one, or as many of its clauses as fit.
 *
 * @throws {Error} where not even the first clause fits.
 */
export function shortened(sentence, most) {
  if (sentence.length <= most) return sentence;
  const cut = Math.max(...[", ", "; ", ": ", " ("].map((mark) => sentence.lastIndexOf(mark, most - 1)));
  if (cut < 1) throw new Error(`"${sentence}" cannot be shortened to ${most} characters; say it in clauses.`);
  return `${sentence.slice(0, cut)}.`;
}
