import { accessSync, constants, lstatSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
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

/**
 * The folder of one run. A file that cannot be written is left out, with a note: it must not cost the verdict. Nothing
 * of it stays, since half an artifact is useless and may show a secret.
 */
export class RunFolder {
  readonly id: string;
  readonly path: string;
  readonly #note: string | undefined;
  readonly #problem: string | undefined;
  readonly #lost: { readonly name: string; readonly reason: string }[] = [];

  /**
   * @param note about the place of all runs.
   * @param problem why the folder could not be created.
   */
  constructor(path: string, note?: string, problem?: string) {
    this.id = basename(path);
    this.path = path;
    this.#note = note;
    this.#problem = problem;
  }

  get isUsable(): boolean {
    return this.#problem === undefined;
  }

  /** Writes a file, for this user only; false if that was not possible. */
  write(name: string, data: string | Uint8Array): Promise<boolean> {
    return this.keep(name, (path) => writeFile(path, data, { mode: 0o600 }));
  }

  /** Calls `write` for a file of this name; false if the disk refused it, or if it threw `NotKept`. */
  async keep(name: string, write: (path: string) => Promise<unknown>): Promise<boolean> {
    const path = join(this.path, name);
    try {
      if (this.#problem !== undefined) throw new NotKept(this.#problem);
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
      const names = this.#lost.filter((one) => one.reason === reason).map(({ name }) => name);
      return `${names.join(", ")} (${reason})`;
    });
    const note = `not kept in ${this.path}: ${lost.join(", ")}; --output-dir chooses another folder`;
    return [
      ...(this.#note === undefined ? [] : [this.#note]),
      ...(lost.length === 0 ? [] : [note]),
    ];
  }

  /** Starts a new list of what was not kept. */
  forget(): void {
    this.#lost.length = 0;
  }
}

/** Where runs are kept, and a note if that is not the usual place. */
export interface RunsPlace {
  readonly folder: string;
  readonly note?: string;
}

/**
 * The folder for all runs: the usual one, or one for temporary files if the usual one cannot be written, as in the home
 * directory of another user. It exists afterwards. Call it once, before any process writes or lists runs.
 */
export function runsPlace(usual: string): RunsPlace {
  const problem = problemOf(usual);
  if (problem === undefined) return { folder: usual };
  const temporary = join(
    tmpdir(),
    `refmcp-playwright-${process.getuid?.() ?? userInfo().username}`,
  );
  // Then each run says what was not kept, and why.
  if (problemOf(temporary) !== undefined || !isPrivate(temporary)) return { folder: usual };
  const note = `artifacts are in ${temporary}, since ${usual} cannot be written (${problem}); --output-dir chooses another folder`;
  return { folder: temporary, note };
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

/** Whether nobody else owns or can change a folder: in a shared one, another user may have created it first. */
function isPrivate(folder: string): boolean {
  const stat = lstatSync(folder);
  const isOurs =
    process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
  return stat.isDirectory() && isOurs;
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
