import type { EntityRow, RelationRow } from "../types.ts";

/** A file to write below a new directory. */
export interface Note {
  readonly path: string;
  readonly text: string;
}

/**
 * A Markdown note about one entity, in the format of basic-memory and Obsidian: YAML front matter with `title` and `type`,
 * facts as list items, relations as `- type [[Other note]]`.
 *
 * @param stem the name of its file without the ending
 */
export function noteOf(
  stem: string,
  { name, type }: EntityRow,
  facts: readonly string[],
  relations: readonly RelationRow[],
): Note {
  // JSON strings are YAML too, on one line.
  const front = `---\ntitle: ${JSON.stringify(name)}\ntype: ${JSON.stringify(type)}\n---\n`;
  const section = (heading: string, items: readonly string[]) =>
    items.length === 0 ? "" : `\n## ${heading}\n${items.map((item) => `- ${item}\n`).join("")}`;
  const links = relations.map((relation) => `${lineOf(relation.type)} [[${linkOf(relation.to)}]]`);
  const observations = facts.map((text) => `[fact] ${lineOf(text)}`);
  return {
    path: `${stem}.md`,
    text: `${front}\n# ${lineOf(name)}\n${section("Observations", observations)}${section("Relations", links)}`,
  };
}

/** A text on one line. */
function lineOf(text: string): string {
  return text
    .trim()
    .replace(/\r?\n/gu, "<br>")
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ");
}

/** A name without the characters that a link cannot contain. */
function linkOf(name: string): string {
  return lineOf(name).replace(/[[\]|#^]/gu, " ");
}

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/iu;
/** Most file systems allow 255 bytes. */
const MAX_BYTES = 200;

/** Names of files that every system accepts and that differ on every system, whatever the case and Unicode form. */
export class FreeNames {
  readonly #taken = new Set<string>();

  /** A free name without its ending, similar to the entity's; it is then taken. */
  take(name: string): string {
    const stem = stemOf(name);
    for (let number = 1; ; number++) {
      const free = number === 1 ? stem : `${stem} ${number}`;
      const key = free.normalize("NFC").toLowerCase().normalize("NFC");
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return free;
    }
  }
}

function stemOf(name: string): string {
  let stem = [...name.normalize("NFC")]
    .slice(0, MAX_BYTES)
    .join("")
    .toWellFormed()
    .replace(/[<>:"/\\|?*\p{Cc}\p{Cf}[\]#^]+/gu, "-")
    .replace(/\s+/gu, " ");
  while (Buffer.byteLength(stem) > MAX_BYTES) stem = [...stem].slice(0, -1).join("");
  stem = stem.replace(/^[\s.]+|[\s.]+$/gu, "");
  if (stem === "") return "note";
  return RESERVED.test(stem) ? `_${stem}` : stem;
}
