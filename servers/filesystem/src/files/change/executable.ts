import { fchmodSync } from "node:fs";
import { requireOneName } from "@refmcp/boundary";
import { withFile } from "../open-path.ts";
import type { ChangeContext } from "./change-context.ts";

const MODE = 0o7777;

/**
 * Makes a file executable for everyone who may read it, or for nobody; does nothing if this platform has no such
 * permission. The caller holds the path's lock.
 *
 * @throws ToolError as `PathGuard.openFile`.
 */
export async function setExecutable(
  context: ChangeContext,
  path: string,
  executable: boolean,
): Promise<void> {
  if (process.platform === "win32") return;
  const before = await modeOf(context, path);
  const after = executable ? before | ((before & 0o444) >> 2) : before & ~0o111;
  if (after === before) return;
  await context.record({ action: "mode", path }, async (recording) => {
    await recording.write({ kind: "mode", path, before, after });
    await changeMode(context, path, before, after);
    return {};
  });
}

/** The permissions of a file. @throws ToolError as `PathGuard.openFile`. */
export function modeOf({ guard }: ChangeContext, path: string): Promise<number> {
  return withFile(guard, path, async ({ stat }) => stat.mode & MODE);
}

/**
 * Sets the permissions of a file through its verified descriptor.
 *
 * @returns false if they are not the expected ones; then nothing is changed.
 */
export function changeMode({ guard }: ChangeContext, path: string, expected: number, mode: number) {
  return withFile(guard, path, async ({ handle, stat }) => {
    if ((stat.mode & MODE) !== expected) return false;
    requireOneName(stat, path);
    fchmodSync(handle.fd, mode);
    return true;
  });
}
