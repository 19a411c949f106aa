import { structuredPatch } from "diff";
import { FORMATS } from "./edit.ts";
import { secretsIn } from "./entries.ts";
import { SetupProblem } from "./formats/text-format.ts";
import type { KnownHost } from "./known-hosts.ts";

const MAX_COLUMNS = 300;
const MASK = "•••";

/**
 * The unified diff of a file, with secrets masked.
 *
 * @param before undefined if the file does not exist
 */
export function renderDiff(
  host: KnownHost,
  file: string,
  before: string | undefined,
  after: string | undefined,
): string {
  const format = FORMATS[host.format];
  const secrets = [before, after].flatMap((text) => {
    try {
      return text === undefined || text.trim() === "" ? [] : secretsIn(format.parse(text));
    } catch (error) {
      if (error instanceof SetupProblem) return [];
      throw error;
    }
  });
  const { hunks } = structuredPatch(file, file, before ?? "", after ?? "", undefined, undefined, {
    context: 2,
  });
  const lines = [
    `--- ${before === undefined ? "(no file)" : file}`,
    `+++ ${after === undefined ? "(no file)" : file}`,
    ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...changed.map((line) => shorten(mask(line.replace(/\r$/, ""), secrets))),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

function shorten(line: string): string {
  return line.length <= MAX_COLUMNS ? line : `${line.slice(0, MAX_COLUMNS)}…`;
}

/** Hides the secrets in a text. A short one, which could also be part of a word, only as a whole value. */
export function mask(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const secret of secrets) {
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (secret.length >= 6) masked = masked.replaceAll(secret, MASK).replaceAll(escaped, MASK);
    else
      masked = masked
        .replaceAll(`"${escaped}"`, `"${MASK}"`)
        .replaceAll(`'${secret}'`, `'${MASK}'`);
    if (masked.endsWith(`: ${secret}`)) masked = masked.slice(0, -secret.length) + MASK;
  }
  return masked;
}
