import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { grouped, oneLine, ToolError } from "@refmcp/core/answer";
import type { PathGuard } from "@refmcp/core/boundary";

/** The notes: the Markdown files that lie directly in the allowed directories. Links are no notes. */
export class Notes {
  readonly #guard: PathGuard;
  readonly #maxBytes: number;

  /** @param maxBytes the largest note that is read */
  constructor(guard: PathGuard, maxBytes: number) {
    this.#guard = guard;
    this.#maxBytes = maxBytes;
  }

  /** The absolute paths of all notes, in order. */
  async paths(): Promise<string[]> {
    const found: string[] = [];
    for (const { path } of this.#guard.bound.directories()) {
      const directory = await this.#guard.openDirectory(path);
      try {
        const entries = await readdir(directory.entry(""), { withFileTypes: true });
        const notes = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".md"));
        found.push(...notes.map((entry) => join(path, entry.name)));
        await directory.verify();
      } finally {
        await directory.close();
      }
    }
    return found.sort();
  }

  /**
   * The lines of one note.
   *
   * @param path absolute, or below an allowed directory
   * @throws ToolError as `PathGuard.openFile` does, and `too_large` beyond the size that is read.
   */
  async lines(path: string): Promise<string[]> {
    const { handle, stat } = await this.#guard.openFile(path);
    try {
      if (stat.size > this.#maxBytes) {
        throw new ToolError(
          "too_large",
          `The note "${oneLine(path)}" has ${grouped(stat.size)} bytes, more than the ${grouped(this.#maxBytes)} that are read.`,
          { hint: "Start the server with a larger --max-note-bytes, or look into another note." },
        );
      }
      return (await handle.readFile("utf8")).split(/\r?\n/);
    } finally {
      await handle.close();
    }
  }
}
