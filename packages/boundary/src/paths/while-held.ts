import { setTimeout as delay } from "node:timers/promises";
import type { Platform } from "./names.ts";
import { errorCode, pathError } from "./path-errors.ts";

/** What Windows reports for a name whose file another program has open: with or without the right to share it. */
const HELD = new Set(["EPERM", "EACCES", "EBUSY"]);

/** Pauses between attempts, 1.3 seconds in total: scanners and indexers let a file go within a second. */
const PAUSES_MS = [10, 20, 40, 80, 160, 320, 640];

/**
 * Renames or removes a name, on Windows with more attempts: it refuses both while an editor, a virus scanner or an indexer
 * has the file open. Elsewhere there is one attempt, since the same errors are about permissions.
 *
 * @param path the path to name in the error
 * @param work runs again at each attempt, so it must check again what it relies on
 * @throws ToolError `conflict`, code `held`, after the last attempt on Windows; otherwise what `work` throws
 */
export async function whileHeld<Result>(
  path: string,
  work: () => Result | Promise<Result>,
  platform: Platform = process.platform,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (platform !== "win32" || !HELD.has(errorCode(error) ?? "")) throw error;
      const pause = PAUSES_MS[attempt];
      if (pause === undefined) throw pathError("held", path, { cause: error });
      await delay(pause);
    }
  }
}
