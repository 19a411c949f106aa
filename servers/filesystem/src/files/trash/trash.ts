import { constants, statSync } from "node:fs";
import { access, link, lstat, readdir, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type AllowedDirectories,
  type GuardedFile,
  type HiddenPlaces,
  hiddenAt,
  realPathOf,
  within,
} from "@refmcp/boundary";
import { ENTRY_ID, idAt } from "../journal/entries.ts";
import { type PrivateDirectory, privateDirectory } from "./private-directory.ts";

/** The name of a trash in an allowed directory. */
const NAME = ".refmcp-trash";
/** Also the desktop's, on Linux and macOS: a model must not read or change what a user deleted. */
const TRASH_NAMES =
  /(?:^|[\\/])(?:\.Trash(?:-\d+)?|\.refmcp-trash|\.local[\\/]share[\\/]Trash)(?:[\\/]|$)/;
const DAY_MS = 86_400_000;

/** What no tool may access: the journal and every trash. */
export function hiddenPlaces(stateDirectories: readonly string[]): HiddenPlaces {
  const below = hiddenAt(
    stateDirectories.flatMap((state) => [join(state, "journal"), join(state, "trash")]),
  );
  return {
    paths: below.paths,
    hides: (realPath) =>
      (realPath.includes("rash") && TRASH_NAMES.test(realPath)) || below.hides(realPath),
  };
}

/** A name in a trash. */
export interface TrashPlace {
  /** Its absolute path. */
  readonly path: string;
  /** Moves the entry at `entry` there. @throws EXDEV if the two are on different file systems after all. */
  take(entry: string): Promise<void>;
  /** Keeps the content of an open file that is about to be replaced by another one. */
  keep(file: GuardedFile, copy: (to: string) => Promise<void>): Promise<void>;
  /** Frees the name again. */
  discard(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Where large files that are deleted or replaced are kept: on their own file system, so that nothing is copied and their
 * size does not matter. It is next to the journal or in the allowed directory.
 */
export class Trash {
  readonly #stateDirectories: readonly string[];
  readonly #allowed: AllowedDirectories;
  readonly #days: number;
  readonly #swept = new Set<string>();

  /** @param stateDirectories those that may contain the journal; the trash is next to it. */
  constructor(allowed: AllowedDirectories, days: number, stateDirectories: readonly string[]) {
    this.#allowed = allowed;
    this.#days = days;
    this.#stateDirectories = stateDirectories;
  }

  /** Whether there is or can be a trash for the entry at an absolute real path. */
  async accepts(realPath: string): Promise<boolean> {
    const dev = devOf(dirname(realPath));
    if (dev === undefined) return false;
    for (const { path, top } of this.#candidates(realPath)) {
      const found = await openTrash(path, false);
      await found?.close();
      if (found !== undefined && found.dev === dev) return true;
      const parent = path === join(top, NAME) ? undefined : dirname(path);
      const isSafe =
        parent === undefined || (await isFreePath(parent)) || (await isPrivate(parent));
      if (isSafe && (await isFreePath(path)) && devOf(top) === dev && (await isWritable(top)))
        return true;
    }
    return false;
  }

  /**
   * Reserves a name for the entry at an absolute real path; undefined if there is no trash on its file system.
   *
   * @param name the id of the change, with which the name begins.
   */
  async reserve(realPath: string, name: string): Promise<TrashPlace | undefined> {
    const dev = devOf(dirname(realPath));
    if (dev === undefined) return undefined;
    for (const { path, top } of this.#candidates(realPath)) {
      if (devOf(top) !== dev) continue;
      const files = await openTrash(path, true);
      if (files !== undefined && files.dev === dev) {
        await this.#sweep(files);
        return placeIn(files, name);
      }
      await files?.close();
    }
    return undefined;
  }

  /** Whether a recorded path is in a trash, and not a link to somewhere else. */
  isTrash(path: string): boolean {
    return this.#allowed.hidden?.hides(join(realPathOf(dirname(path)), basename(path))) === true;
  }

  /** Erases an entry. */
  async erase(path: string): Promise<void> {
    if (this.isTrash(path) && ENTRY_ID.test(basename(path)))
      await rm(path, { recursive: true, force: true });
  }

  /** Removes what is older than the journal keeps, once per directory. */
  async #sweep(files: PrivateDirectory): Promise<void> {
    if (this.#swept.has(files.path)) return;
    this.#swept.add(files.path);
    const oldest = idAt(Date.now() - this.#days * DAY_MS);
    for (const name of await readdir(files.entry("")).catch(() => [])) {
      if (ENTRY_ID.test(name) && name < oldest)
        await rm(files.entry(name), { recursive: true, force: true });
    }
  }

  /**
   * Next to the journal, or at the top of the allowed directory: not below it, where another program could put a link
   * in the way.
   */
  #candidates(realPath: string): { path: string; top: string }[] {
    const states = this.#stateDirectories.map((state) => ({
      path: join(state, "trash"),
      top: nearest(state),
    }));
    const allowed = this.#allowed
      .directories()
      .filter((one) => one.writable && within(realPath, one.realPath));
    return [...states, ...allowed.map(({ realPath: top }) => ({ path: join(top, NAME), top }))];
  }
}

async function isFreePath(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) === undefined;
}

/** Whether nobody else can change a directory that exists. */
async function isPrivate(path: string): Promise<boolean> {
  const found = await privateDirectory(path, { create: false, keepMode: true });
  await found?.close();
  return found !== undefined;
}

/** Opens a trash. Next to the journal, nobody else may be able to replace it. */
async function openTrash(path: string, create: boolean): Promise<PrivateDirectory | undefined> {
  if (basename(path) !== NAME) {
    if (create) await (await privateDirectory(dirname(path), { create, keepMode: true }))?.close();
    if (!(await isPrivate(dirname(path)))) return undefined;
  }
  return privateDirectory(path, { create });
}

function placeIn(files: PrivateDirectory, name: string): TrashPlace {
  const at = files.entry(name);
  return {
    path: join(files.path, name),
    take: (entry) => rename(entry, at),
    async keep(file, copy) {
      if (await linked(file, at)) return;
      await copy(at);
    },
    discard: () => rm(at, { recursive: true, force: true }),
    close: files.close,
  };
}

/**
 * Gives an open file a second name, so that its content remains when the first one gets another file. Not if it has
 * other names already: what is written through them would change the kept content.
 */
export async function linked(
  { realPath, handle, stat }: GuardedFile,
  to: string,
): Promise<boolean> {
  if (stat.nlink > 1) return false;
  try {
    await link(realPath, to);
  } catch {
    return false;
  }
  const [one, other] = [await lstat(to, { bigint: true }), await handle.stat({ bigint: true })];
  if (one.dev === other.dev && one.ino === other.ino) return true;
  await unlink(to);
  return false;
}

function nearest(path: string): string {
  return devOf(path) !== undefined || dirname(path) === path ? path : nearest(dirname(path));
}

function devOf(path: string): number | undefined {
  try {
    return statSync(path).dev;
  } catch {
    return undefined;
  }
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
