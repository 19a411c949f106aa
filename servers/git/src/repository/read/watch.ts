import { basename, join } from "node:path";
import type { Repository } from "../open/repository.ts";

/** Files in a git directory that change with the status. */
const FILES: ReadonlySet<string> = new Set([
  "HEAD",
  "index",
  "packed-refs",
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "rebase-merge",
]);
const SETTLE_MS = 100;

/**
 * Watches HEAD, the index and the refs, and calls `changed` once after each burst of changes.
 *
 * @returns a function that stops it
 */
export async function watchStatus(repository: Repository, changed: () => void): Promise<() => Promise<void>> {
  const { watch } = await import("chokidar");
  const { gitDir, commonDir } = repository.location;
  const refs = join(commonDir, "refs");
  const isRef = (path: string) =>
    path === refs || path.startsWith(`${refs}/`) || path.startsWith(`${refs}\\`);
  const watcher = watch([gitDir, commonDir, refs], {
    ignoreInitial: true,
    depth: 8,
    ignored: (path) =>
      path.endsWith(".lock") ||
      !(path === gitDir || path === commonDir || isRef(path) || FILES.has(basename(path))),
  });
  let timer: NodeJS.Timeout | undefined;
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLE_MS);
  });
  await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
