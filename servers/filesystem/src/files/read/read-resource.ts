import { readdir } from "node:fs/promises";
import type { PathGuard } from "@refmcp/boundary";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { directoryAt, withFile } from "../open-path.ts";
import { MAX_MEDIA_BYTES, typeOf } from "./media.ts";
import { formOf, readAt, sourceOf, tooLarge } from "./source.ts";
import { decode } from "./text-encoding.ts";

/** Maximum bytes of text read as a resource. */
const MAX_TEXT_BYTES = 1024 * 1024;
/** Maximum entries of a directory listed as a resource. */
const MAX_ENTRIES = 1000;

/** A whole file or directory, for clients that cannot request a part. */
export type Whole =
  | { readonly text: string; readonly mime: string }
  | { readonly bytes: Buffer; readonly mime: string };

/**
 * Reads a whole file, or the names in a directory (one per line, directories with a trailing slash).
 *
 * @throws ToolError `too_large` for more than 1 MiB of text or 3.75 MB of bytes, and what the guard throws.
 */
export async function readWhole(guard: PathGuard, path: string): Promise<Whole> {
  const names = await namesIn(guard, path);
  if (names !== undefined) return { text: names, mime: "inode/directory" };
  return withFile(guard, path, async (file) => {
    const { mime, text } = await typeOf(file);
    const max = text ? MAX_TEXT_BYTES : MAX_MEDIA_BYTES;
    if (file.stat.size > max) {
      const hint = "Use read_text_file with offset and limit.";
      throw tooLarge(file.path, file.stat.size, max, "are read as a resource", hint);
    }
    const form = text ? await formOf(await sourceOf(file)) : undefined;
    const bytes = await readAt(file, 0, file.stat.size);
    return form === undefined ? { bytes, mime } : { text: decode(bytes, form), mime };
  });
}

/** The names in a directory, sorted; undefined if the path is a file. */
async function namesIn(guard: PathGuard, path: string): Promise<string | undefined> {
  const directory = await directoryAt(guard, path);
  if (directory === undefined) return undefined;
  try {
    const entries = await readdir(directory.entry(""), { withFileTypes: true });
    const names = entries.map((entry) => oneLine(entry.name) + (entry.isDirectory() ? "/" : "")).sort();
    const more = names.length - MAX_ENTRIES;
    const note = more > 0 ? [`(${grouped(more)} more; list_directory pages through them)`] : [];
    return [...names.slice(0, MAX_ENTRIES), ...note].join("\n");
  } finally {
    await directory.close();
  }
}
