import { fchmodSync } from "node:fs";
import type { Receipt } from "../journal/journal.ts";
import { withFile } from "../open-path.ts";
import type { ChangeContext } from "./change-context.ts";

const MODE = 0o7777;

/**
 * Makes a file executable for everyone who may read it, or for nobody. The caller holds the path's lock.
 *
 * @returns undefined if nothing changed: it was so already, or this platform has no such permission.
 * @throws ToolError as `PathGuard.openFile`.
 */
export async function setExecutable(
  context: ChangeContext,
  path: string,
  executable: boolean,
): Promise<Receipt | undefined> {
  if (process.platform === "win32") return undefined;
  const { mode } = await withFile(context.guard, path, async ({ stat }) => stat);
  const before = mode & MODE;
  const after = executable ? before | ((before & 0o444) >> 2) : before & ~0o111;
  if (after === before) return undefined;
  const { receipt } = await context.journal.record({ action: "mode", path }, async (recording) => {
    await recording.write({ kind: "mode", path, before, after });
    await changeMode(context, path, before, after);
    return {};
  });
  return receipt;
}

/**
 * Sets the permissions of a file through its verified descriptor.
 *
 * @returns false if they are not the expected ones; then nothing is changed.
 */
export function changeMode({ guard }: ChangeContext, path: string, expected: number, mode: number) {
  return withFile(guard, path, async ({ handle, stat }) => {
    if ((stat.mode & MODE) !== expected) return false;
    fchmodSync(handle.fd, mode);
    return true;
  });
}
