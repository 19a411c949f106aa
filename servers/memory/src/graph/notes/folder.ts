import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  createPathGuard,
  DirectoryAllowlist,
  ensureDirectory,
  errorCode,
  type PathGuard,
} from "@refmcp/boundary";
import { grouped, ToolError } from "@refmcp/boundary/answer";

/** Maximum number of notes in a directory, and size of one. */
export const MAX_NOTES = 10_000;
const MAX_BYTES = 1024 * 1024;
/** Notes of deleted entities; Obsidian uses the same directory. */
const TRASH = ".trash";

/** A note on the disk. */
export interface NoteText {
  readonly text: string;
  readonly hash: string;
}

/** A directory of notes. All paths are below it, with `/` between names. Everything goes through a path guard. */
export class NotesFolder {
  readonly root: string;
  readonly #paths: PathGuard;

  constructor(root: string) {
    this.root = root;
    const configured = [{ path: root, source: "argument" as const }];
    this.#paths = createPathGuard(new DirectoryAllowlist({ configured, mode: "off" }));
  }

  /** Creates the directory if it is missing. */
  create(): void {
    try {
      ensureDirectory(this.root);
    } catch (cause) {
      throw new ToolError("unavailable", `The notes directory ${this.root} cannot be created.`, {
        hint: "Check that its parent exists and is writable, or choose another directory with --notes.",
        cause,
      });
    }
  }

  /**
   * All notes, each with a text that changes whenever the file does. Hidden directories and links are left out.
   *
   * @returns undefined if the directory is missing or unreadable.
   * @throws ToolError `too_large` for more than 10,000 notes.
   */
  scan(): Map<string, string> | undefined {
    const found = new Map<string, string>();
    const pending = [""];
    for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
      const directory = join(this.root, below);
      try {
        for (const entry of readdirSync(directory, { withFileTypes: true })) {
          const path = below === "" ? entry.name : `${below}/${entry.name}`;
          if (entry.name.startsWith(".")) continue;
          if (entry.isDirectory()) pending.push(path);
          else if (entry.isFile() && /\.(?:md|markdown)$/iu.test(entry.name)) {
            const stamp = this.stamp(path);
            if (stamp !== undefined) found.set(path, stamp);
          }
        }
      } catch (error) {
        if (errorCode(error) === undefined) throw error;
        // What cannot be listed is not deleted.
        return undefined;
      }
      if (found.size > MAX_NOTES)
        throw new ToolError(
          "too_large",
          `${this.root} has more than ${grouped(MAX_NOTES)} notes.`,
          {
            hint: "Choose a smaller directory with --notes, or import it with import_graph.",
          },
        );
    }
    return found;
  }

  /** Time, size and number of a file; undefined if there is none. */
  stamp(path: string): string | undefined {
    const stat = lstatSync(join(this.root, path), { bigint: true, throwIfNoEntry: false });
    return stat?.isFile() === true ? `${stat.mtimeNs}:${stat.size}:${stat.ino}` : undefined;
  }

  /** Whether anything has that path, a link too. */
  has(path: string): boolean {
    return lstatSync(join(this.root, path), { throwIfNoEntry: false }) !== undefined;
  }

  /** @throws ToolError `invalid` if it is too large or not UTF-8; what the path guard throws. */
  async read(path: string): Promise<NoteText> {
    const file = await this.#paths.openFile(join(this.root, path));
    try {
      if (file.stat.size > MAX_BYTES)
        throw new ToolError(
          "invalid",
          `The note ${path} is larger than 1 MiB, so it is left out.`,
          {
            hint: "Split it, or move it out of the directory.",
          },
        );
      const bytes = await file.handle.readFile();
      return {
        text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
        hash: hashOf(bytes),
      };
    } catch (cause) {
      if (cause instanceof ToolError || errorCode(cause) !== "ERR_ENCODING_INVALID_ENCODED_DATA")
        throw cause;
      throw new ToolError("invalid", `The note ${path} is not UTF-8, so it is left out.`, {
        hint: "Save it as UTF-8.",
        cause,
      });
    } finally {
      await file.handle.close();
    }
  }

  /**
   * Writes a note atomically.
   *
   * @param expected the hash of the text that it replaces; undefined for a new note.
   * @throws ToolError `conflict` if the note is another one now; then it is unchanged.
   */
  async write(path: string, text: string, expected: string | undefined): Promise<NoteText> {
    const content = Buffer.from(text, "utf8");
    await this.#paths.writeFile(
      join(this.root, path),
      content,
      expected === undefined
        ? { mode: "create" }
        : {
            check: async (existing) => {
              const now =
                existing === undefined ? undefined : hashOf(await existing.handle.readFile());
              if (now !== expected) throw changedNote(path);
            },
          },
    );
    return { text, hash: hashOf(content) };
  }

  /** Moves the note of a deleted entity to the trash; returns its path there. */
  async trash(path: string): Promise<string> {
    const [, stem = path, ending = ""] = /^(.*?)(\.[^./]*)?$/su.exec(path) ?? [];
    await this.#paths.createDirectory(dirname(join(this.root, TRASH, path)));
    for (let number = 1; ; number++) {
      const target = `${TRASH}/${number === 1 ? path : `${stem} ${number}${ending}`}`;
      if (this.has(target)) continue;
      await this.move(path, target);
      return target;
    }
  }

  /** @throws ToolError `conflict` if the target exists */
  async move(from: string, to: string): Promise<void> {
    await this.#paths.createDirectory(dirname(join(this.root, to)));
    await this.#paths.move(join(this.root, from), join(this.root, to));
  }

  /** Removes the note of an entity that was erased permanently. */
  async erase(path: string): Promise<void> {
    const place = await this.#paths.place(join(this.root, path), { write: true });
    try {
      if (place.stat?.isFile() === true) await unlink(place.entry);
    } finally {
      await place.parent.close();
    }
  }
}

/** A note that another program changed since it was read, so that the change must be read first. */
export function changedNote(path: string): ToolError {
  return new ToolError("conflict", `The note ${path} was changed by another program.`, {
    hint: "Repeat the call.",
  });
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("base64url");
