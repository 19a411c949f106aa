import { basename, extname } from "node:path/posix";

/** A note's identifier in basic-memory: lower case, words joined by hyphens. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/gu, "")
    .slice(0, 100);
}

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/iu;
const MAX_STEM = 120;

/** A file name without its ending that every system accepts, similar to the entity's name. */
function stemOf(name: string): string {
  const safe = name
    .normalize("NFC")
    .toWellFormed()
    .replace(/[<>:"/\\|?*\p{Cc}\p{Cf}[\]#^]+/gu, "-")
    .replace(/\s+/gu, " ");
  const cut = [...safe].slice(0, MAX_STEM).join("");
  // 255 bytes are the limit of most file systems.
  let short = cut;
  while (Buffer.byteLength(short) > 200) short = [...short].slice(0, -1).join("");
  const stem = short.replace(/^[\s.]+|[\s.]+$/gu, "");
  if (stem === "") return "note";
  return RESERVED.test(stem) ? `_${stem}` : stem;
}

/** File names for entities that differ from each other on every system, whatever the case and Unicode form. */
export class FreeStems {
  readonly #taken = new Set<string>();

  /** A free name for an entity; it is then taken. */
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

/** The names of the entities of notes, each once, and what links to notes mean. */
export class NoteNames {
  readonly #taken = new Set<string>();
  readonly #links = new Map<string, string>();

  /**
   * The name of a note's entity: its title or its file's name; if another note has that, its path. The first note of a name keeps
   * the short links.
   */
  add(
    path: string,
    { title, permalink }: Readonly<Record<"title" | "permalink", string | undefined>>,
  ) {
    const whole = path.slice(0, path.length - extname(path).length);
    const wanted = title ?? basename(whole).toWellFormed();
    const name = this.#taken.has(wanted) ? whole.toWellFormed() : wanted;
    this.#taken.add(name);
    for (const link of [
      name,
      path,
      whole,
      basename(path),
      basename(whole),
      permalink ?? slugOf(name),
    ]) {
      const key = link.toLowerCase();
      if (!this.#links.has(key)) this.#links.set(key, name);
    }
    return name;
  }

  /** The name of the entity that a link means: a note's, or the text of the link. */
  resolve(target: string): string {
    if (this.#taken.has(target)) return target;
    return this.#links.get(target.toLowerCase()) ?? target;
  }
}
