import type { Stats } from "node:fs";
import { type GuardedDirectory, type GuardedFile, type PathGuard, statOf } from "@refmcp/boundary";
import { oneLine, sizeOf, ToolError } from "@refmcp/boundary/answer";
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
/** How many folders are listed with their sizes. */
const MAX_FOLDERS = 20;

interface InfoOptions {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Report;
  readonly countingMs?: number;
}

/** Facts by name, in order; undefined ones are not shown. */
type Facts = Record<string, string | number | boolean | undefined>;

/**
 * Facts about a file, a directory or a link, one per line. A link that leads inside is followed. For one that leads
 * outside, and for FIFOs, sockets and devices, only the entry itself is examined, and nothing is opened.
 */
export async function getInfo(
  { guard }: Pick<Files, "guard">,
  pathText: string,
  options: InfoOptions = {},
): Promise<string> {
  const place = await guard.place(await guard.resolve(pathText)).catch((error: unknown) => {
    // The parent of an allowed directory is not accessed.
    if (error instanceof ToolError && error.kind === "denied") return undefined;
    throw error;
  });
  await place?.parent.close();
  const stat =
    place === undefined ? undefined : (place.stat ?? (await notThere(guard, place.path)));
  const path = place?.path ?? pathText;
  const link = stat?.isSymbolicLink() === true ? await guard.readLink(path) : undefined;
  const target = link && `${oneLine(link.target)}${link.inside ? "" : " (outside, or missing)"}`;
  if (place !== undefined && stat?.isDirectory() === false && !stat.isFile() && !link?.inside) {
    const type = link ? "link" : stat.isFIFO() ? "fifo" : stat.isSocket() ? "socket" : "device";
    const { writable } = place.parent.directory;
    return infoText(path, { type, link_target: target }, stat, {}, writable);
  }
  const directory = await directoryAt(guard, path);
  await directory?.close();
  if (directory !== undefined)
    return withDirectory(guard, path, async (root) => {
      const contents = await contentsOf(guard, root, options);
      const head = { type: "directory", link_target: target, ...contents };
      return infoText(root.path, head, root.stat, {}, root.directory.writable);
    });
  return withFile(guard, path, async (file) => {
    const head = { type: "file", link_target: target, size: file.stat.size };
    const content = await contentFacts(file, options.signal);
    return infoText(path, head, file.stat, content, file.directory.writable);
  });
}

function infoText(path: string, head: Facts, stat: Stats, content: Facts, writable: boolean) {
  const facts: Facts = {
    path: oneLine(path),
    ...head,
    ...content,
    permissions: permissionsOf(stat),
    writable,
    created: stat.birthtime.toISOString(),
    modified: stat.mtime.toISOString(),
    accessed: stat.atime.toISOString(),
  };
  const pairs = Object.entries(facts).filter(([, value]) => value !== undefined);
  return pairs.map(([name, value]) => `${name}: ${String(value)}`).join("\n");
}

/** Permissions in the form of `ls`: `rw-r--r--`. */
function permissionsOf({ mode }: Stats): string {
  const bits = Array.from("rwxrwxrwx", (letter, index) =>
    (mode >> (8 - index)) & 1 ? letter : "-",
  );
  return bits.join("");
}

async function contentFacts(file: GuardedFile, signal: AbortSignal | undefined): Promise<Facts> {
  const { mime, text } = await typeOf(file);
  const source = await sourceOf(file);
  const { whole, size } = source;
  const form = text ? formOf(source) : undefined;
  const isHashed = whole !== undefined || size <= MAX_HASHED_BYTES;
  return {
    mime,
    encoding: form && form.encoding + (form.weak ? " (a guess)" : ""),
    line_endings: form?.eol,
    lines: whole && form && (await new Lines(source, form).count()),
    hash: whole ? hashOf(whole) : isHashed ? await hashOfFile(file, signal) : undefined,
    hard_links: file.stat.nlink > 1 ? file.stat.nlink : undefined,
  };
}

/** What is below a directory, at any depth; symlinks are not followed. */
async function contentsOf(
  guard: PathGuard,
  root: GuardedDirectory,
  { signal, progress, countingMs: budgetMs = COUNTING_MS }: InfoOptions,
): Promise<Facts> {
  let [files, directories, bytes] = [0, 0, 0];
  const folders = new Map<string, number>();
  const add = reporter(progress);
  const walking = { signal, git: true, budgetMs };
  const { ended, unreadable } = await walk(guard, root, walking, ({ path, name, type, parent }) => {
    add(1);
    if (type === "directory") directories += 1;
    if (type !== "file") return undefined;
    const size = statOf(parent.entry(name))?.size ?? 0;
    files += 1;
    bytes += size;
    const folder = path.slice(0, path.indexOf("/") + 1);
    folders.set(folder, (folders.get(folder) ?? 0) + size);
    return undefined;
  });
  folders.delete("");
  const largest = [...folders].sort(([, a], [, b]) => b - a).slice(0, MAX_FOLDERS);
  const list = largest.map(([name, size]) => `${oneLine(name)} ${sizeOf(size)}`).join(", ");
  const late = "only a part, because the time ran out; ask for its subdirectories";
  return {
    files,
    directories,
    total_size: bytes,
    largest_folders: list === "" ? undefined : list,
    counted: ended === "late" ? late : undefined,
    unreadable_directories: unreadable || undefined,
  };
}
