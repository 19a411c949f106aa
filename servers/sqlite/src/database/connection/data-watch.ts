import { ToolError } from "@refmcp/boundary/answer";
import type { Databases } from "./databases.ts";

const POLL_MS = 300;
/** Maximum databases watched at the same time; each takes a process. */
export const MAX_WATCHED = 8;

interface Watched {
  readonly listeners: Set<() => void>;
  readonly stop: AbortController;
}

/**
 * Notifies listeners of commits to a database by any process: while there are listeners, a handle that stays open runs
 * `PRAGMA data_version` three times a second.
 */
export class DataWatch {
  readonly #databases: Databases;
  readonly #watched = new Map<string, Watched>();

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /**
   * Reports commits made after it resolves.
   *
   * @returns a function that stops it
   * @throws ToolError if there is no such database
   */
  async listen(database: string, changed: () => void): Promise<() => void> {
    const watched = this.#watched.get(database) ?? { listeners: new Set(), stop: new AbortController() };
    if (!this.#watched.has(database) && this.#watched.size >= MAX_WATCHED)
      throw new ToolError(
        "unavailable",
        `${MAX_WATCHED} databases are already watched, which is the limit.`,
        {
          hint: "Unsubscribe from the resources of one of them first.",
        },
      );
    watched.listeners.add(changed);
    if (!this.#watched.has(database)) {
      this.#watched.set(database, watched);
      try {
        await this.#begin(database, watched);
      } catch (error) {
        this.#end(database, watched);
        throw error;
      }
    }
    return () => {
      watched.listeners.delete(changed);
      if (watched.listeners.size === 0) this.#end(database, watched);
    };
  }

  close(): void {
    for (const [database, watched] of [...this.#watched]) this.#end(database, watched);
  }

  #end(database: string, watched: Watched): void {
    watched.stop.abort();
    if (this.#watched.get(database) === watched) this.#watched.delete(database);
  }

  /** Resolves once the first version is known. */
  async #begin(database: string, { listeners, stop }: Watched): Promise<void> {
    const { signal } = stop;
    const run = { signal, timeoutMs: this.#databases.limits().timeoutMs };
    const first = await this.#databases.place(database);
    await new Promise<void>((begun, failed) => {
      const watching = this.#databases.watchers.lease(first.file, run, async (ask) => {
        const look = async () =>
          await ask<string>({ op: "version", place: await this.#databases.place(database) });
        let version = await look();
        begun();
        while (!signal.aborted) {
          await new Promise((resolve) => setTimeout(resolve, POLL_MS).unref());
          // A file that is locked or missing for a moment is checked again.
          const now = await look().catch(() => version);
          if (now === version) continue;
          version = now;
          for (const listener of listeners) listener();
        }
      });
      watching.catch(failed);
    });
  }
}
