import type { Stats } from "node:fs";
import { type GuardedDirectory, type GuardedFile, type PathGuard, statOf } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Files } from "../files.ts";
import { directoryAt, notThere, withDirectory, withFile } from "../open-path.ts";
import { type Report, reporter } from "../tree/reporter.ts";
import { walk } from "../tree/walk.ts";
import { hashOf, hashOfFile } from "./bytes.ts";
import { formOf, Lines, sourceOf } from "./lines.ts";
import { typeOf } from "./media.ts";

const MAX_HASHED_BYTES = 64 * 1024 * 1024;
/** How long the entries of a directory are counted, in milliseconds: some millions. */
const COUNTING_MS = 30_000;

/** The text of a link, and whether its target is inside. */
type LinkTarget = Awaited<ReturnType<PathGuard["readLink"]>> | undefined;

/** The facts that only a file's content or only a directory has. */
const NO_CONTENT = {
  mime: undefined,
  form: undefined,
  lines: undefined,
  hash: undefined,
  below: undefined,
};

export interface InfoOptions {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Report;
  readonly countingMs?: number;
}

/**
 * Returns information about a file, a directory or a link. A link that leads inside is followed. For one that leads
 * outside, and for FIFOs, sockets and devices, only the entry itself is examined, and nothing is opened.
 */
export async function getInfo(
  { guard }: Pick<Files, "guard">,
  given: string,
  options: InfoOptions = {},
) {
  const { signal } = options;
  const place = await guard.place(await guard.resolve(given)).catch((error: unknown) => {
    // The parent of an allowed directory is not accessed.
    if (error instanceof ToolError && error.kind === "denied") return undefined;
    throw error;
  });
  if (place === undefined) return directoryInfo(guard, given, undefined, options);
  try {
    const { path } = place;
    const stat = place.stat ?? (await notThere(guard, path));
    const link = stat.isSymbolicLink() ? await guard.readLink(path) : undefined;
    if (stat.isDirectory()) return await directoryInfo(guard, path, link, options);
    if (!stat.isFile() && link?.inside !== true) {
      const { writable } = place.parent.directory;
      return { path, type: typeName(stat), link, stat, ...NO_CONTENT, writable };
    }
    const directory = await directoryAt(guard, path);
    await directory?.close();
    if (directory !== undefined) return await directoryInfo(guard, path, link, options);
    return await withFile(guard, path, async (file) => {
      const content = await contentFacts(file, signal);
      return {
        path,
        type: "file" as const,
        link,
        stat: file.stat,
        ...content,
        writable: file.directory.writable,
      };
    });
  } finally {
    await place.parent.close();
  }
}

async function contentFacts(file: GuardedFile, signal: AbortSignal | undefined) {
  const { mime, text } = await typeOf(file);
  const source = await sourceOf(file);
  const { whole, size } = source;
  const form = text ? await formOf(source) : undefined;
  if (whole === undefined) {
    const hash = size <= MAX_HASHED_BYTES ? await hashOfFile(file, signal) : undefined;
    return { ...NO_CONTENT, mime, form, hash };
  }
  const lines = form && (await new Lines(source, form).count());
  return { ...NO_CONTENT, mime, form, lines, hash: hashOf(whole) };
}

async function directoryInfo(
  guard: PathGuard,
  path: string,
  link: LinkTarget,
  options: InfoOptions,
) {
  return withDirectory(guard, path, async (root) => {
    const { path, stat, directory } = root;
    const below = await sizeOf(guard, root, options);
    return {
      path,
      type: "directory" as const,
      link,
      stat,
      ...NO_CONTENT,
      below,
      writable: directory.writable,
    };
  });
}

/** The files below a directory, at any depth; symlinks are not followed. `isCut`: only the first were counted. */
async function sizeOf(
  guard: PathGuard,
  root: GuardedDirectory,
  { signal, progress, countingMs: budgetMs = COUNTING_MS }: InfoOptions,
) {
  let [files, directories, bytes] = [0, 0, 0];
  const add = reporter(progress);
  const walking = { signal, git: true, budgetMs };
  const { ended, unreadable } = await walk(guard, root, walking, ({ name, type, parent }) => {
    add(1);
    if (type === "directory") directories += 1;
    if (type === "file") {
      files += 1;
      bytes += statOf(parent.entry(name))?.size ?? 0;
    }
    return undefined;
  });
  return { files, directories, bytes, unreadable, isCut: ended === "late" };
}

function typeName(stat: Stats) {
  if (stat.isSymbolicLink()) return "link";
  return stat.isFIFO() ? "fifo" : stat.isSocket() ? "socket" : "device";
}

/** Permissions in the form of `ls`: `rw-r--r--`. */
export function permissionsOf({ mode }: Stats): string {
  const bits = Array.from("rwxrwxrwx", (letter, index) =>
    (mode >> (8 - index)) & 1 ? letter : "-",
  );
  return bits.join("");
}

/** One fact per line, `size: 120`; for a link its target, if that is inside. */
export function infoAnswer(found: Awaited<ReturnType<typeof getInfo>>): string {
  const { path, type, link, stat, form, below, ...info } = found;
  const target = link && `${oneLine(link.target)}${link.inside ? "" : " (outside, or missing)"}`;
  const facts = {
    path: oneLine(path),
    type,
    link_target: target,
    size: below === undefined ? stat.size : undefined,
    files: below?.files,
    directories: below?.directories,
    total_size: below?.bytes,
    counted: below?.isCut
      ? "only a part, because the time ran out; ask for its subdirectories"
      : undefined,
    unreadable_directories: below?.unreadable || undefined,
    mime: info.mime,
    encoding: form && form.encoding + (form.weak ? " (a guess)" : ""),
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
