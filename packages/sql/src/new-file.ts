import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { errorCode, type PathGuard, temporaryName } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";

/** A file that was written completely. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes a new file piece by piece inside the boundary. The file gets its name once it is complete and on the disk; a failure
 * leaves nothing behind. An existing file or link of that name is left unchanged.
 *
 * @param fill writes the pieces one after the other; its result is returned as `value`
 * @throws ToolError `conflict` if the name is taken; what the boundary throws
 */
export async function writeNewFile<Value>(
  guard: PathGuard,
  path: string,
  fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<Value>,
): Promise<NewFile & { value: Value }> {
  const place = await guard.place(path, { write: true });
  const temporary = place.parent.entry(temporaryName());
  let handle: FileHandle | undefined;
  let isThere = false;
  try {
    if (place.stat !== undefined) throw taken(place.path);
    const target = await open(temporary, "wx", 0o600);
    handle = target;
    isThere = true;
    let bytes = 0;
    const value = await fill(async (piece) => {
      await target.writeFile(piece);
      bytes += piece.length;
    });
    await target.sync();
    await target.close();
    handle = undefined;
    await place.parent.verify();
    isThere = await nameIt(temporary, place.entry, place.path);
    return { path: place.path, bytes, value };
  } finally {
    await handle?.close();
    if (isThere) await unlink(temporary).catch(() => undefined);
    await place.parent.close();
  }
}

const NO_LINKS = ["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** link(2) fails if the name is taken; rename(2) would replace it. Returns whether the first name still exists. */
async function nameIt(temporary: string, entry: string, path: string): Promise<boolean> {
  try {
    await link(temporary, entry);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") throw taken(path);
    if (!NO_LINKS.includes(code ?? "")) throw error;
  }
  // A file system without hard links: our empty file reserves the name until the rename.
  const holder = await open(entry, "wx").catch(() => {
    throw taken(path);
  });
  await holder.close();
  await rename(temporary, entry);
  return false;
}

function taken(path: string): ToolError {
  return new ToolError("conflict", `${JSON.stringify(path)} already exists; nothing was written.`, {
    hint: "Choose another name: existing files are never overwritten.",
  });
}
