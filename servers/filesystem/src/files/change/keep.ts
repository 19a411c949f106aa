import type { Stats } from "node:fs";
import { link, lstat, readlink, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import { copyData, type GuardedFile, type GuardedPlace } from "@refmcp/boundary";
import { failure, named } from "../errors.ts";
import { withFile } from "../open-path.ts";
import type { Making } from "./step.ts";

/**
 * A file up to this size is copied before it is replaced. A second name would be an event for programs that watch the
 * file, which then ignore the real change right after it (chokidar for 5 ms).
 */
const SMALL_BYTES = 1024 * 1024;

/** @throws ToolError `denied` for anything other than a file, directory or link. */
export function requireOrdinary(stat: Stats, path: string): void {
  if (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) return;
  const message = `${named(path)} is a device, FIFO or socket; only files, directories and symlinks can be changed.`;
  throw failure("special_file", message);
}

/**
 * Keeps the content of an open file whose name is about to get another file.
 *
 * @returns the path of its image
 */
export async function keep(
  { recording, signal }: Pick<Making, "recording" | "signal">,
  file: GuardedFile,
): Promise<string> {
  const { realPath, path, stat, handle } = file;
  const { image, isSameDisk } = recording.imageFor(realPath, stat.size);
  const isLarge = stat.size > SMALL_BYTES;
  if (isSameDisk && isLarge && (await isLinked(file, image))) return image;
  recording.requireCopyable(path, stat.size);
  await recording.copying(image, () => copyData(handle.fd, stat.size, image, signal));
  return image;
}

/**
 * Gives an open file a second name, so that its content remains when the first one gets another file. Not if it has
 * other names already: what is written through them would change the kept content.
 */
async function isLinked({ realPath, handle, stat }: GuardedFile, image: string): Promise<boolean> {
  if (stat.nlink > 1) return false;
  try {
    await link(realPath, image);
  } catch {
    return false;
  }
  const [one, other] = [await lstat(image, { bigint: true }), await handle.stat({ bigint: true })];
  if (one.dev === other.dev && one.ino === other.ino) return true;
  await unlink(image);
  return false;
}

/**
 * Keeps what is at the destination of a move or a copy.
 *
 * @throws ToolError `conflict` if it may not be replaced: without `overwrite`, a directory, or a link that is refused
 */
export async function keepDisplaced(
  making: Making,
  { stat, path, entry, parent, name }: GuardedPlace,
  options: { overwrite: boolean; links: "keep" | "refuse" },
): Promise<{ image?: string; size_before?: number }> {
  if (stat === undefined) return {};
  if (stat.isDirectory())
    throw failure("directory_exists", `${named(path)} already exists and is a directory.`);
  if (!options.overwrite) throw failure("exists", `${named(path)} already exists.`);
  if (!stat.isSymbolicLink()) {
    const image = await withFile(making.guard, path, (file) => keep(making, file));
    return { image, size_before: stat.size };
  }
  if (options.links === "refuse")
    throw failure("link_exists", `${named(path)} already exists and is a symlink.`);
  const { image } = making.recording.imageFor(join(parent.realPath, name), 0);
  await symlink(await readlink(entry), image);
  return { image, size_before: 0 };
}
