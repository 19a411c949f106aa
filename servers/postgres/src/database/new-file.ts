import { randomBytes } from "node:crypto";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { ToolError } from "@refmcp/core/answer";
import type { PathGuard } from "@refmcp/core/boundary";

/** A file that was written whole. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes a file piece by piece inside the boundary. It gets its name when it is whole; a failure leaves nothing behind.
 *
 * @throws ToolError `conflict` where something has that name and `overwrite` is false.
 */
export async function writeNewFile<Value>(
  guard: PathGuard,
  path: string,
  overwrite: boolean,
  fill: (write: (chunk: Uint8Array) => Promise<void>) => Promise<Value>,
): Promise<NewFile & { value: Value }> {
  const place = await guard.place(path, { write: true });
  const temporary = place.parent.entry(`.refmcp-${randomBytes(6).toString("hex")}.tmp`);
  let handle: FileHandle | undefined;
  let isThere = false;
  try {
    if (place.stat !== undefined && !overwrite) throw taken(place.path);
    if (place.stat?.isDirectory() === true)
      throw new ToolError("invalid", `${JSON.stringify(place.path)} is a directory.`, {
        hint: "Name a file.",
      });
    handle = await open(temporary, "wx", 0o600);
    isThere = true;
    let bytes = 0;
    const target = handle;
    const value = await fill(async (chunk) => {
      await target.writeFile(chunk);
      bytes += chunk.length;
    });
    await handle.sync();
    await handle.close();
    handle = undefined;
    await place.parent.verify();
    if (overwrite) await rename(temporary, place.entry);
    else await nameIt(temporary, place.entry, place.path);
    isThere = false;
    return { path: place.path, bytes, value };
  } finally {
    await handle?.close();
    if (isThere) await unlink(temporary).catch(() => undefined);
    await place.parent.close();
  }
}

/** Gives a file its name only where nothing has it: a hard link is refused where something does. */
async function nameIt(temporary: string, entry: string, path: string): Promise<void> {
  try {
    await link(temporary, entry);
    await unlink(temporary);
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), "code");
    if (code === "EEXIST") throw taken(path);
    // A file system without hard links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    await rename(temporary, entry);
  }
}

function taken(path: string): ToolError {
  return new ToolError("conflict", `${JSON.stringify(path)} exists already.`, {
    hint: "Choose another name, or pass overwrite: true.",
  });
}
