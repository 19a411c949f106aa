import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { link, open } from "node:fs/promises";
import { type Identity, isSame } from "./identity.ts";
import { changedConcurrently } from "./refusals.ts";
import { errorCode } from "./system-error.ts";

/** The errors of link(2) if a file system, or the kernel's hard link protection, does not allow the link. */
const noLinks = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** A file to be renamed: its location and identity. */
export interface Unnamed {
  readonly entry: string;
  readonly identity: Identity;
}

/**
 * Gives a file the name `to`, which must be free: the file system decides atomically, so that exactly one of
 * several callers gets the name. rename(2) would replace what is there, and Node has no RENAME_NOREPLACE.
 *
 * @param path what to call `to` in errors
 * @returns `linked` if the old name is still there and to be removed, `moved` if it is already gone
 * @throws EEXIST if `to` is taken; ToolError `conflict` if `entry` is another file by now
 */
export async function giveFreeName(
  { entry, identity }: Unnamed,
  to: string,
  path: string,
): Promise<"linked" | "moved"> {
  try {
    await link(entry, to);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || !noLinks.has(code)) throw error;
    await renameOverHolder(entry, to, path);
    return "moved";
  }
  // macOS follows a link that was put in the file's place, and would give an outside file a name inside.
  if (isSame(lstatSync(to, { bigint: true }), identity)) return "linked";
  unlinkSync(to);
  throw changedConcurrently(path);
}

/** Without hard links: our empty file reserves the name until the rename replaces it. */
async function renameOverHolder(entry: string, to: string, path: string): Promise<void> {
  const holder = await open(to, "wx");
  const held = await holder.stat({ bigint: true });
  await holder.close();
  const isOurs = (): boolean => {
    const now = lstatSync(to, { bigint: true, throwIfNoEntry: false });
    return now !== undefined && isSame(now, held);
  };
  if (!isOurs()) throw changedConcurrently(path);
  try {
    renameSync(entry, to);
  } catch (error) {
    if (isOurs()) unlinkSync(to);
    throw error;
  }
}
