import { accessSync, constants, mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ensureDirectory } from "@refmcp/boundary";

/** Why the file system refused something: `no space left on device`; undefined for any other error. */
export function diskProblem(error: unknown): string | undefined {
  // Playwright's errors have only the text.
  const text = error instanceof Error ? error.message : "";
  const codes = /\b(?:ENOSPC|EDQUOT|EACCES|EPERM|EROFS|EFBIG|EIO|ENOENT|ENOTDIR|EMFILE): ([^,\n]+)/;
  return codes.exec(text)?.[1];
}

/** An artifact is not kept, for the reason in its message. */
export class NotKept extends Error {}

interface FolderOptions {
  /** Why the folder could not be created. */
  readonly problem?: string | undefined;
  readonly note?: string | undefined;
  /** Removes secrets from a text. */
  readonly redact?: ((text: string) => string) | undefined;
}

/**
 * The folder of one run. A file that cannot be written is left out, with a note: it must not cost the verdict. Nothing
 * of it stays, since half an artifact is useless and may show a secret.
 */
export class RunFolder {
  readonly id: string;
  readonly path: string;
  readonly #options: FolderOptions;
  readonly #lost: { readonly name: string; readonly reason: string }[] = [];

  constructor(path: string, options: FolderOptions = {}) {
    this.id = basename(path);
    this.path = path;
    this.#options = options;
  }

  get isUsable(): boolean {
    return this.#options.problem === undefined;
  }

  /** Writes a file, for this user only, without secrets if it is a text; false if that was not possible. */
  write(name: string, data: string | Uint8Array): Promise<boolean> {
    const { redact } = this.#options;
    const content = typeof data === "string" ? (redact?.(data) ?? data) : data;
    return this.keep(name, (path) => writeFile(path, content, { mode: 0o600 }));
  }

  /** Calls `write` for a file of this name; false if the disk refused it, or if it threw `NotKept`. */
  async keep(name: string, write: (path: string) => Promise<unknown>): Promise<boolean> {
    const path = join(this.path, name);
    try {
      const { problem } = this.#options;
      if (problem !== undefined) throw new NotKept(problem);
      await write(path);
      return true;
    } catch (error) {
      await rm(path, { force: true }).catch(() => undefined);
      const reason = error instanceof NotKept ? error.message : diskProblem(error);
      if (reason === undefined) throw error;
      this.#lost.push({ name, reason });
      return false;
    }
  }

  /** What was not kept and why, for an answer. */
  notes(): string[] {
    const reasons = [...new Set(this.#lost.map(({ reason }) => reason))];
    const lost = reasons.map((reason) => {
      const names = this.#lost.filter((loss) => loss.reason === reason).map(({ name }) => name);
      return `${names.join(", ")} (${reason})`;
    });
    const note = `not kept in ${this.path}: ${lost.join(", ")}; --output-dir chooses another folder`;
    const { note: place = [] } = this.#options;
    return [place, lost.length === 0 ? [] : note].flat();
  }

  /** Starts a new list of what was not kept. */
  forget(): void {
    this.#lost.length = 0;
  }
}

/** Where runs are kept, and a note if that is not the usual place. */
export type RunsPlace = { readonly folder: string } & Pick<FolderOptions, "note">;

/** The usual folder, or a temporary one if that cannot be written, as on a read-only disk. */
export function runsPlace(usual: string): RunsPlace {
  const problem = problemOf(usual);
  if (problem === undefined || problemOf(tmpdir()) !== undefined) return { folder: usual };
  const folder = mkdtempSync(join(tmpdir(), "refmcp-playwright-"));
  const note = `artifacts are in ${folder}, since ${usual} cannot be written (${problem}); --output-dir chooses another folder`;
  return { folder, note };
}

/** Creates a folder if it is missing; returns why that failed or why it is not writable, or undefined. */
export function problemOf(folder: string): string | undefined {
  try {
    ensureDirectory(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return diskProblem(error) ?? String(error);
  }
}

/** A name that is safe in a file name: lower-case letters, digits and hyphens. */
export function slugOf(text: string, fallback: string): string {
  const slug = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60)
    .replace(/-+$/, "");
  // Windows reserves these names for devices.
  return slug === "" || /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(slug) ? fallback : slug;
}
