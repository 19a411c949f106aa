import { stat } from "node:fs/promises";

const INTERVAL_MS = 60_000;

/**
 * A file of the official server that was imported. Another program may go on writing to it, whose entries would be missing in the
 * memory. Calls look at it, at most once a minute, so that no timer keeps the process running.
 */
export class OfficialFile {
  readonly path: string;
  readonly #imported: string;
  /** What was seen last: each change is reported once. */
  #seen: string | undefined;
  #lookedAt: number;

  /** @param imported the day of the import, for the notice. */
  constructor(path: string, imported: string, now = performance.now()) {
    this.path = path;
    this.#imported = imported;
    this.#lookedAt = now;
  }

  /** Remembers the current state of the file. */
  async remember(): Promise<void> {
    this.#seen = await factsOf(this.path);
  }

  /** A notice if the file changed since it was seen last; undefined less than a minute after the last look. */
  async look(now = performance.now()): Promise<string | undefined> {
    if (now - this.#lookedAt < INTERVAL_MS) return undefined;
    this.#lookedAt = now;
    const facts = await factsOf(this.path);
    if (facts === undefined || facts === this.#seen) return undefined;
    this.#seen = facts;
    return changedNotice(this.path, this.#imported);
  }
}

async function factsOf(path: string): Promise<string | undefined> {
  const facts = await stat(path).catch(() => undefined);
  return facts === undefined ? undefined : `${facts.mtimeMs} ${facts.size}`;
}

/** What to tell the user about a file that another program still writes to. */
export function changedNotice(path: string, imported: string): string {
  return `${path} has changed since it was imported on ${imported}, so another program still writes to it. Configure that program to use this server; import_graph with that path adds the new entries.`;
}
