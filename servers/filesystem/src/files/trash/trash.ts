import { constants, statSync } from "node:fs";
import { access, link, lstat, readdir, rename, rm, unlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import {
  type AllowedDirectories,
  errorCode,
  type GuardedFile,
  type HiddenPlaces,
  hiddenAt,
  realPathOf,
  within,
} from "@refmcp/boundary";
import { ENTRY_ID, idAt } from "../journal/entries.ts";
import { type PrivateDirectory, privateDirectory, stickyDirectory } from "./private-directory.ts";

/** The name of our trash in an allowed directory. */
const OWN_NAME = ".refmcp-trash";
/** The trash of any user at the top of a file system (XDG), and in a home directory of macOS. */
const TRASH_NAMES = /(?:^|[\\/])\.(?:Trash(?:-\d+)?|refmcp-trash)(?:[\\/]|$)/;
const DAY_MS = 86_400_000;

export interface TrashOptions {
  /** Directories that may contain the journal; our trash is next to it. */
  readonly stateDirectories: readonly string[];
  /** The user's trash, for files on its file system; undefined if the system's trash is not used on any. */
  readonly home: string | undefined;
}

/** The trash of the desktop, which is used if it exists. */
export function homeTrash(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform === "win32") return undefined;
  if (platform === "darwin") return join(homedir(), ".Trash");
  const data = environment.XDG_DATA_HOME;
  return join(
    data !== undefined && isAbsolute(data) ? data : join(homedir(), ".local", "share"),
    "Trash",
  );
}

/** What no tool may access: the journal and every trash. */
export function hiddenPlaces({ stateDirectories, home }: TrashOptions): HiddenPlaces {
  const own = stateDirectories.flatMap((state) => [join(state, "journal"), join(state, "trash")]);
  const below = hiddenAt(home === undefined ? own : [...own, home]);
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
 * Where deleted files and large replaced ones are kept: on their own file system, so that nothing is copied and their
 * size does not matter. It is the system's trash if there is one on that file system (freedesktop.org Trash
 * specification 1.0, or `~/.Trash` on macOS), and otherwise our own, next to the journal or in the allowed directory.
 */
export class Trash {
  readonly #options: TrashOptions;
  readonly #allowed: AllowedDirectories;
  readonly #days: number;
  readonly #swept = new Set<string>();

  constructor(allowed: AllowedDirectories, days: number, options: TrashOptions) {
    this.#allowed = allowed;
    this.#days = days;
    this.#options = options;
  }

  /** Whether the system has a trash for the entry at an absolute real path. */
  async hasSystem(realPath: string): Promise<boolean> {
    const found = await this.#system(realPath);
    await found?.close();
    return found !== undefined;
  }

  /** Whether there is or can be any trash for the entry at an absolute real path. */
  async accepts(realPath: string): Promise<boolean> {
    const dev = devOf(dirname(realPath));
    if (dev === undefined) return false;
    if (await this.hasSystem(realPath)) return true;
    for (const { path, top } of this.#ownCandidates(realPath)) {
      const found = await openOwn(path, false);
      await found?.close();
      if (found !== undefined && found.dev === dev) return true;
      const parent = path === join(top, OWN_NAME) ? undefined : dirname(path);
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
   * @param id the change, by which our own trash names its entries.
   */
  async reserve(realPath: string, id: string): Promise<TrashPlace | undefined> {
    return (await this.#reserveInSystem(realPath)) ?? (await this.#reserveInOwn(realPath, id));
  }

  /** Whether a recorded path is in a trash, and not a link to somewhere else. */
  isTrash(path: string): boolean {
    return this.#allowed.hidden?.hides(join(realPathOf(dirname(path)), basename(path))) === true;
  }

  /** Forgets an entry that was restored. */
  async restored(path: string): Promise<void> {
    if (basename(dirname(path)) === "files") await rm(infoPath(path), { force: true });
  }

  /** Erases an entry of our own trash; the system's belongs to the user. */
  async erase(path: string): Promise<void> {
    if (this.isTrash(path) && ENTRY_ID.test(basename(path)))
      await rm(path, { recursive: true, force: true });
  }

  async #reserveInSystem(realPath: string): Promise<TrashPlace | undefined> {
    const trash = await this.#system(realPath);
    if (trash === undefined) return undefined;
    if (trash.info === undefined)
      return placeIn(trash.files, await freeName(trash.files, realPath), []);
    const { info, files, top } = trash;
    const shown = top === undefined ? realPath : relative(top, realPath);
    const path = shown.split(sep).map(encodeURIComponent).join("/");
    const text = `[Trash Info]\nPath=${path}\nDeletionDate=${localTime(new Date())}\n`;
    try {
      for (let number = 1; ; number++) {
        const name = `${basename(realPath)}${number === 1 ? "" : `.${number}`}`;
        const entry = info.entry(`${name}.trashinfo`);
        try {
          // The specification: the info file reserves the name.
          await writeFile(entry, text, { mode: 0o600, flag: "wx" });
        } catch (error) {
          if (errorCode(error) === "EEXIST" && number < 10_000) continue;
          throw error;
        }
        if ((await lstat(files.entry(name)).catch(() => undefined)) === undefined) {
          return placeIn(files, name, [info], entry);
        }
        await unlink(entry);
      }
    } catch (error) {
      await trash.close();
      // A name too long for the suffix, or a full disk: our own trash may still work.
      if (errorCode(error) === undefined) throw error;
      return undefined;
    }
  }

  async #system(realPath: string): Promise<SystemTrash | undefined> {
    const { home } = this.#options;
    const dev = devOf(dirname(realPath));
    if (dev === undefined || home === undefined) return undefined;
    const inHome = await systemTrash(home, dev, process.platform === "darwin", undefined);
    if (inHome !== undefined) return inHome;
    const uid = process.getuid?.();
    if (process.platform === "darwin" || uid === undefined) return undefined;
    const top = topOf(dirname(realPath), dev);
    const shared = await stickyDirectory(join(top, ".Trash"));
    if (shared !== undefined) {
      const found = await systemTrash(join(shared, String(uid)), dev, false, top, true);
      if (found !== undefined) return found;
    }
    return systemTrash(join(top, `.Trash-${uid}`), dev, false, top);
  }

  async #reserveInOwn(realPath: string, id: string): Promise<TrashPlace | undefined> {
    const dev = devOf(dirname(realPath));
    if (dev === undefined) return undefined;
    for (const { path, top } of this.#ownCandidates(realPath)) {
      if (devOf(top) !== dev) continue;
      const files = await openOwn(path, true);
      if (files !== undefined && files.dev === dev) {
        await this.#sweep(files);
        return placeIn(files, id, []);
      }
      await files?.close();
    }
    return undefined;
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
  #ownCandidates(realPath: string): { path: string; top: string }[] {
    const states = this.#options.stateDirectories.map((state) => ({
      path: join(state, "trash"),
      top: nearest(state),
    }));
    const allowed = this.#allowed
      .directories()
      .filter((one) => one.writable && within(realPath, one.realPath));
    return [...states, ...allowed.map(({ realPath: top }) => ({ path: join(top, OWN_NAME), top }))];
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

/** Opens our trash. Next to the journal, nobody else may be able to replace it. */
async function openOwn(path: string, create: boolean): Promise<PrivateDirectory | undefined> {
  if (basename(path) !== OWN_NAME) {
    if (create) await (await privateDirectory(dirname(path), { create, keepMode: true }))?.close();
    if (!(await isPrivate(dirname(path)))) return undefined;
  }
  return privateDirectory(path, { create });
}

interface SystemTrash {
  readonly files: PrivateDirectory;
  /** Undefined on macOS. */
  readonly info: PrivateDirectory | undefined;
  /** Of a trash at the top of a file system, whose paths are relative to it. */
  readonly top: string | undefined;
  close(): Promise<void>;
}

/** An existing trash of this user, on the file system `dev`. */
async function systemTrash(
  path: string,
  dev: number,
  isFlat: boolean,
  top: string | undefined,
  create = false,
): Promise<SystemTrash | undefined> {
  const trash = await privateDirectory(path, { create, keepMode: true });
  if (trash === undefined) return undefined;
  if (trash.dev === dev && isFlat)
    return { files: trash, info: undefined, top, close: trash.close };
  const open = (name: string) =>
    privateDirectory(join(path, name), { create: true, keepMode: true, at: trash.entry(name) });
  const files = trash.dev === dev ? await open("files") : undefined;
  const info = files === undefined ? undefined : await open("info");
  await trash.close();
  const close = async () => {
    await files?.close();
    await info?.close();
  };
  if (files !== undefined && files.dev === dev && info !== undefined)
    return { files, info, top, close };
  await close();
  return undefined;
}

function placeIn(
  files: PrivateDirectory,
  name: string,
  others: readonly PrivateDirectory[],
  info?: string,
): TrashPlace {
  const at = files.entry(name);
  const path = join(files.path, name);
  return {
    path,
    take: (entry) => rename(entry, at),
    async keep(file, copy) {
      if (await linked(file, at)) return;
      await copy(at);
    },
    async discard() {
      await rm(at, { recursive: true, force: true });
      if (info !== undefined) await rm(info, { force: true });
    },
    async close() {
      for (const one of [files, ...others]) await one.close();
    },
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

async function freeName(files: PrivateDirectory, realPath: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${basename(realPath)}${number === 1 ? "" : ` ${number}`}`;
    if ((await lstat(files.entry(name)).catch(() => undefined)) === undefined) return name;
  }
}

function infoPath(path: string): string {
  return join(dirname(dirname(path)), "info", `${basename(path)}.trashinfo`);
}

/** The highest directory around `path` on the same file system. */
function topOf(path: string, dev: number): string {
  let top = path;
  while (dirname(top) !== top && devOf(dirname(top)) === dev) top = dirname(top);
  return top;
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

/** `2026-01-31T23:59:59` in local time, as the specification wants it. */
function localTime(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19);
}
