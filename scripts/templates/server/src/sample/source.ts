import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { clip, cursorsOf, digits, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { type FindRequest, MAX_TEXT, type Note, type NotesPage, pageOf } from "./page.ts";

interface FileRequest extends FindRequest {
  /** One file only: absolute, or below an allowed directory. */
  readonly path?: string | undefined;
}

/** A file and a line of it, from 0. */
const position = z.tuple([z.string(), z.number()]);

/** The lines of the Markdown files directly in the allowed directories. Symlinks are not followed out of them. */
export class SampleSource {
  readonly #guard: PathGuard;
  readonly #maxBytes: number;

  /** @param maxBytes of one file */
  constructor(guard: PathGuard, maxBytes: number) {
    this.#guard = guard;
    this.#maxBytes = maxBytes;
  }

  /**
   * Finds notes, by file and then by line.
   *
   * @throws ToolError as `PathGuard.openFile` does; `too_large` for a larger file; `invalid` for a cursor of another search.
   */
  async find(request: FileRequest): Promise<NotesPage> {
    const { query, path: only, limit, cursor, signal } = request;
    const cursors = cursorsOf("sample_find", [query, only], position);
    const [lastPath, lastLine] = cursors.decode(cursor) ?? ["", -1];
    const matches: [Note, z.output<typeof position>][] = [];
    for (const path of only === undefined ? await this.#paths() : [only]) {
      signal.throwIfAborted();
      if (path < lastPath) continue;
      for (const [line, text] of (await this.#lines(path)).entries()) {
        if (path === lastPath && line <= lastLine) continue;
        if (!text.toLowerCase().includes(query.toLowerCase())) continue;
        matches.push([{ id: `${path}:${line + 1}`, text: clip(text, MAX_TEXT) }, [path, line]]);
        if (matches.length > limit) return pageOf(matches, request, cursors);
      }
    }
    return pageOf(matches, request, cursors);
  }

  async #paths(): Promise<string[]> {
    const paths: string[] = [];
    for (const { path } of this.#guard.allowed.directories()) {
      const directory = await this.#guard.openDirectory(path);
      try {
        const entries = await readdir(directory.entry(""), { withFileTypes: true });
        const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".md"));
        paths.push(...files.map((entry) => join(path, entry.name)));
        await directory.verify();
      } finally {
        await directory.close();
      }
    }
    return paths.sort();
  }

  async #lines(path: string): Promise<string[]> {
    const { handle, stat } = await this.#guard.openFile(path);
    try {
      if (stat.size > this.#maxBytes)
        throw new ToolError(
          "too_large",
          `"${oneLine(path)}" has ${digits(stat.size)} bytes; at most ${digits(this.#maxBytes)} are read.`,
          {
            hint: "Ask the user to start the server with a larger --max-file-bytes, or name another file.",
          },
        );
      return (await handle.readFile()).toString().split(/\r?\n/);
    } finally {
      await handle.close();
    }
  }
}
