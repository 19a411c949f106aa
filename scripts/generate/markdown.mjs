// Markdown from values.

/** A table; cells are text in which `|` and line breaks are harmless. @param {string[]} columns @param {string[][]} rows */
export function table(columns, rows) {
  /** @param {string} text */
  const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  return [columns, columns.map(() => "---"), ...rows]
    .map((row) => `| ${row.map(cell).join(" | ")} |`)
    .join("\n");
}

/** The same, padded so that it is readable as source. @param {string[]} columns @param {string[][]} rows */
export function aligned(columns, rows) {
  const widths = columns.map((_, index) =>
    Math.max(...[columns, ...rows].map((row) => row[index]?.length ?? 0)),
  );
  /** @param {string[]} row */
  const padded = (row) => row.map((text, index) => text.padEnd(widths[index] ?? 0));
  const [head, , ...body] = table(padded(columns), rows.map(padded)).split("\n");
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body].join("\n");
}

/** @param {string} language @param {string} text */
export function fenced(language, text) {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** @param {string} text */
export const code = (text) => `\`${text}\``;

/** a, b and c @param {string[]} words */
export function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** @param {string} text */
export function firstSentence(text) {
  return /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** allowWrite → allow-write @param {string} key */
export function kebab(key) {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * A sentence of at most `most` characters: the whole one, or as many of its clauses as fit.
 *
 * @param {string} sentence
 * @param {number} most
 * @throws {Error} where not even the first clause fits.
 */
export function shortened(sentence, most) {
  if (sentence.length <= most) return sentence;
  const cut = Math.max(
    ...[", ", "; ", ": ", " ("].map((mark) => sentence.lastIndexOf(mark, most - 1)),
  );
  if (cut < 1)
    throw new Error(`"${sentence}" cannot be shortened to ${most} characters; say it in clauses.`);
  return `${sentence.slice(0, cut)}.`;
}
