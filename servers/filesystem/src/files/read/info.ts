import type { Stats } from "node:fs";
import type { GuardedDirectory, GuardedFile, GuardedPlace, PathGuard } from "@refmcp/boundary";
import { grouped, oneLine, ToolError } from "@refmcp/boundary/answer";
import { directoryAt, notThere, withDirectory, withFile } from "../open-path.ts";
import { statOf } from "../tree/open-below.ts";
import { walk } from "../tree/walk.ts";
import { Lines } from "./lines.ts";
import { typeOf } from "./media.ts";
import { formOf, hashOf, hashOfFile, sourceOf } from "./source.ts";
import type { TextForm } from "./text-encoding.ts";

/** Maximum bytes of a file whose hash is included. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;
/** Maximum entries of a directory that are counted, in about a second. */
const MAX_COUNTED = 100_000;

export type EntryType = "file" | "directory" | "link" | "fifo" | "socket" | "device";

export interface FileInfo {
  readonly path: string;
  /** The type of the path's target; `link` for a link that leads outside or is broken. */
  readonly type: EntryType;
  /** For a link, its text and whether its target is inside. */
  readonly link: { readonly target: string; readonly inside: boolean } | undefined;
  readonly stat: Stats;
  /** For files. */
  readonly mime: string | undefined;
  /** For text. */
  readonly form: TextForm | undefined;
  /** For text up to 8 MiB. */
  readonly lines: number | undefined;
  /** For files up to 64 MiB. */
  readonly hash: string | undefined;
  /** For directories. */
  readonly below: DirectorySize | undefined;
  /** Whether its allowed directory is writable. */
  readonly writable: boolean;
}

/** The files below a directory, at any depth; symlinks are not followed. */
export interface DirectorySize {
  readonly files: number;
  readonly bytes: number;
  /** Directories that could not be read. */
  readonly unreadable: number;
  /** Whether there are more than 100,000 entries, so only the first were counted. */
  readonly isCut: boolean;
}

/** The facts that only a file's content or only a directory has. */
const NO_CONTENT = {
  mime: undefined,
  form: undefined,
  lines: undefined,
  hash: undefined,
  below: undefined,
};

/**
 * Returns information about a file, a directory or a link. A link that leads inside is followed. For one that leads
 * outside, and for FIFOs, sockets and devices, only the entry itself is examined, and nothing is opened.
 */
export async function getInfo(guard: PathGuard, path: string, signal?: AbortSignal): Promise<FileInfo> {
  const place = await placeOf(guard, path);
  if (place === undefined) return directoryInfo(guard, path, undefined, signal);
  try {
    const stat = place.stat ?? (await notThere(guard, place.path));
    const link = stat.isSymbolicLink() ? await guard.readLink(place.path) : undefined;
    if (stat.isDirectory()) return await directoryInfo(guard, place.path, link, signal);
    if (stat.isFile() || link?.inside) return await followed(guard, place.path, link, signal);
    const { writable } = place.parent.directory;
    return { path: place.path, type: typeName(stat), link, stat, ...NO_CONTENT, writable };
  } finally {
    await place.parent.close();
  }
}

/** The place of an entry; undefined for an allowed directory, whose parent is not accessed. */
async function placeOf(guard: PathGuard, path: string): Promise<GuardedPlace | undefined> {
  const absolute = await guard.resolve(path);
  try {
    return await guard.place(absolute);
  } catch (error) {
    if (error instanceof ToolError && error.kind === "denied") return undefined;
    throw error;
  }
}

async function followed(
  guard: PathGuard,
  path: string,
  link: FileInfo["link"],
  signal: AbortSignal | undefined,
): Promise<FileInfo> {
  const directory = await directoryAt(guard, path);
  if (directory !== undefined) {
    await directory.close();
    return directoryInfo(guard, path, link, signal);
  }
  return withFile(guard, path, async (file) => ({
    path,
    type: "file",
    link,
    stat: file.stat,
    ...(await contentFacts(file, signal)),
    writable: file.directory.writable,
  }));
}

async function contentFacts(file: GuardedFile, signal: AbortSignal | undefined) {
  const { mime, text } = await typeOf(file);
  const source = await sourceOf(file);
  const form = text ? await formOf(source) : undefined;
  const lines =
    form === undefined || source.whole === undefined ? undefined : await new Lines(source, form).count();
  const hash =
    source.whole !== undefined
      ? hashOf(source.whole)
      : file.stat.size <= MAX_HASHED_BYTES
        ? await hashOfFile(file, signal)
        : undefined;
  return { ...NO_CONTENT, mime, form, lines, hash };
}

async function directoryInfo(
  guard: PathGuard,
  path: string,
  link: FileInfo["link"],
  signal: AbortSignal | undefined,
): Promise<FileInfo> {
  return withDirectory(guard, path, async (root) => {
    const { path, stat, directory } = root;
    const below = await sizeOf(guard, root, signal);
    return { path, type: "directory", link, stat, ...NO_CONTENT, below, writable: directory.writable };
  });
}

async function sizeOf(
  guard: PathGuard,
  root: GuardedDirectory,
  signal: AbortSignal | undefined,
): Promise<DirectorySize> {
  let [entries, files, bytes] = [0, 0, 0];
  const { ended, unreadable } = await walk(guard, root, { signal, git: true }, ({ name, type, parent }) => {
    entries += 1;
    if (entries > MAX_COUNTED) return "stop";
    if (type === "file") {
      files += 1;
      bytes += statOf(parent.entry(name))?.size ?? 0;
    }
    return undefined;
  });
  return { files, bytes, unreadable, isCut: ended === "stopped" };
}

/** What a directory entry is, by its stat. */
function typeName(stat: Stats): EntryType {
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "directory";
  if (stat.isSymbolicLink()) return "link";
  if (stat.isFIFO()) return "fifo";
  return stat.isSocket() ? "socket" : "device";
}

/** Permissions in the form of `ls`: `rw-r--r--`. */
export function permissionsOf(stat: Stats): string {
  return Array.from({ length: 9 }, (_, index) =>
    (stat.mode >> (8 - index)) & 1 ? "rwx"[index % 3] : "-",
  ).join("");
}

/** One fact per line, `size: 120`; for a link its target, if that is inside. */
export function infoAnswer({ path, type, link, stat, form, below, ...info }: FileInfo): string {
  const target =
    link === undefined ? undefined : `${oneLine(link.target)}${link.inside ? "" : " (outside, or missing)"}`;
  const facts = {
    path: oneLine(path),
    type,
    link_target: target,
    size: below === undefined ? stat.size : undefined,
    files: below?.files,
    total_size: below?.bytes,
    counted: below?.isCut ? `only the first ${grouped(MAX_COUNTED)} entries; there are more` : undefined,
    unreadable_directories: below?.unreadable || undefined,
    mime: info.mime,
    encoding: form === undefined ? undefined : form.encoding + (form.weak ? " (a guess)" : ""),
    line_endings: form?.eol,
    lines: info.lines,
    hash: info.hash,
    hard_links: type === "file" && stat.nlink > 1 ? stat.nlink : undefined,
    permissions: permissionsOf(stat),
    writable: info.writable,
    created: stat.birthtime.toISOString(),
    modified: stat.mtime.toISOString(),
    accessed: stat.atime.toISOString(),
  };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => `${name}: ${String(value)}`).join("\n");
}
