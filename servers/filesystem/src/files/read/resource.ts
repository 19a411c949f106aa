import { readdir } from "node:fs/promises";
import { join, posix } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { directoryAt, orRefused, withDirectory, withFile } from "../open-path.ts";
import { MAX_MEDIA_BYTES, typeOf } from "./media.ts";
import { formOf, readAt, sourceOf, tooLarge } from "./source.ts";
import { decode } from "./text-encoding.ts";

const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_ENTRIES = 1000;
/** The protocol's limit on suggestions. */
const MAX_SUGGESTIONS = 100;

/**
 * Reads a whole file, or the names in a directory (one per line, directories with a trailing slash), for clients that
 * cannot request a part.
 *
 * @throws ToolError `too_large` for more than 1 MiB of text or 3.75 MB of bytes, and what the guard throws.
 */
export async function readWhole(
  guard: PathGuard,
  path: string,
): Promise<{ text: string; mime: string } | { bytes: Buffer; mime: string }> {
  const names = await namesIn(guard, path);
  if (names !== undefined) return { text: names, mime: "inode/directory" };
  return withFile(guard, path, async (file) => {
    const { mime, text } = await typeOf(file);
    const { size } = file.stat;
    const max = text ? MAX_TEXT_BYTES : MAX_MEDIA_BYTES;
    if (size > max) {
      const hint = "Use read_text_file with offset and limit.";
      throw tooLarge(file.path, size, max, "are read as a resource", hint);
    }
    const form = text ? await formOf(await sourceOf(file)) : undefined;
    const bytes = await readAt(file, 0, size);
    return form === undefined ? { bytes, mime } : { text: decode(bytes, form), mime };
  });
}

/** The names in a directory, sorted; undefined if the path is a file. */
async function namesIn(guard: PathGuard, path: string): Promise<string | undefined> {
  const directory = await directoryAt(guard, path);
  if (directory === undefined) return undefined;
  try {
    const { hidden } = guard.allowed;
    const all = await readdir(directory.entry(""), { withFileTypes: true });
    const entries = all.filter(({ name }) => hidden?.hides(join(directory.realPath, name)) !== true);
    const names = entries.map((entry) => oneLine(entry.name) + (entry.isDirectory() ? "/" : "")).sort();
    const more = names.length - MAX_ENTRIES;
    const note = more > 0 ? [`(${grouped(more)} more; list_directory pages through them)`] : [];
    return [...names.slice(0, MAX_ENTRIES), ...note].join("\n");
  } finally {
    await directory.close();
  }
}

/**
 * Absolute paths that begin with `typed`: entries of its directory, directories with a trailing slash, or the allowed
 * directories themselves if it is not inside one yet.
 *
 * @param typed with `/` between components, also on Windows.
 */
export async function completePath(guard: PathGuard, typed: string): Promise<string[]> {
  const allowed = guard.allowed.directories().map(({ path }) => path.replaceAll("\\", "/"));
  const above = allowed.filter((path) => path.startsWith(typed)).map((path) => `${path}/`);
  if (above.length > 0) return above.slice(0, MAX_SUGGESTIONS);
  const folder = posix.dirname(`${typed}x`);
  const start = typed.slice(typed.lastIndexOf("/") + 1);
  const found = await withDirectory(guard, folder, async (directory) => {
    const entries = await readdir(directory.entry(""), { withFileTypes: true });
    return entries
      .filter((entry) => entry.name.startsWith(start))
      .map((entry) => posix.join(folder, entry.name) + (entry.isDirectory() ? "/" : ""))
      .sort()
      .slice(0, MAX_SUGGESTIONS);
  }).catch(orRefused);
  // No suggestions outside the allowed directories, or if it is not a directory.
  return found ?? [];
}
