import type { BigIntStats } from "node:fs";
import { chmod, chown, type FileHandle, open, utimes } from "node:fs/promises";
import { isSame } from "./identity.ts";
import type { Opener } from "./opener.ts";
import type { ReadHandle } from "./read-handle.ts";
import { changedConcurrently } from "./refusals.ts";
import type { GuardedPlace } from "./types.ts";

const chunkBytes = 1024 * 1024;

/**
 * Copies a regular file to a free name, with mode, and with `attributes` times and, as far as the system lets us, owner.
 *
 * @param seen the source's lstat; another file in its place, or one that changes while it is read, is a
 * `conflict`
 */
export async function copyContent(
  from: Pick<GuardedPlace, "parent" | "name" | "path">,
  seen: BigIntStats,
  to: Pick<GuardedPlace, "parent" | "name">,
  opener: Opener,
  { signal, attributes = true }: { signal?: AbortSignal | undefined; attributes?: boolean | undefined } = {},
): Promise<void> {
  const source = await opener.openFile(from.parent.entry(from.name), from.path);
  try {
    if (!isSame(await source.handle.stat({ bigint: true }), seen)) throw changedConcurrently(from.path);
    const target = await open(to.parent.entry(to.name), "wx", 0o600);
    try {
      await pump(source.handle, target, signal);
      const after = await source.handle.stat({ bigint: true });
      if (after.mtimeNs !== seen.mtimeNs || after.size !== seen.size) throw changedConcurrently(from.path);
      if (attributes) {
        await copyAttributes(target, seen);
        await target.sync();
      } else await target.chmod(Number(seen.mode) & 0o777);
    } finally {
      await target.close();
    }
  } finally {
    await source.handle.close();
  }
}

async function pump(source: ReadHandle, target: FileHandle, signal: AbortSignal | undefined): Promise<void> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let position = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, chunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    await target.writeFile(buffer.subarray(0, bytesRead));
  }
}

/** A file or directory whose mode, owner and times can be set. */
type Attributed = Pick<FileHandle, "chmod" | "chown" | "utimes">;

/** The opened directory at `path`, for setting attributes. */
export function directoryAttributes(path: string): Attributed {
  return {
    chmod: (mode) => chmod(path, mode),
    chown: (uid, gid) => chown(path, uid, gid),
    utimes: (atime, mtime) => utimes(path, atime, mtime),
  };
}

/** If the owner cannot be kept, neither are the set-user-ID and set-group-ID bits. */
export async function copyAttributes(
  target: Attributed,
  { uid, gid, mode, atimeMs, mtimeMs }: BigIntStats,
): Promise<void> {
  const isOwnerKept = await target.chown(Number(uid), Number(gid)).then(
    () => true,
    () => false,
  );
  await target.chmod(Number(mode) & (isOwnerKept ? 0o7777 : 0o777));
  await target.utimes(Number(atimeMs) / 1000, Number(mtimeMs) / 1000);
}
