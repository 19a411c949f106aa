import { join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { FSWatcher } from "chokidar";
import { failure } from "./errors.ts";
import { directoryAt, placeOf, withFile } from "./open-path.ts";

/** Maximum files and directories watched at once, since each uses a system handle. */
export const MAX_WATCHED = 256;
/** Events within this time, in milliseconds, are merged. */
const QUIET_MS = 100;
const POLL_MS = 1_000;

/**
 * Watches single files and directories inside the allowed directories. It never watches a tree, which would take many
 * seconds and hundreds of megabytes for 100,000 files.
 */
export class Watchers {
  readonly #guard: PathGuard;
  readonly #open = new Set<() => Promise<void>>();
  /** Watches that are being opened, so that concurrent calls cannot exceed the limit. */
  #opening = 0;

  constructor(guard: PathGuard) {
    this.#guard = guard;
  }

  /**
   * Calls `changed` when the file, or an entry of the directory itself, changes, appears or disappears. The file need
   * not exist yet, but its directory must.
   *
   * @returns the function that stops it
   * @throws ToolError `too_large` beyond the limit, and what the guard throws
   */
  async watch(path: string, changed: () => void): Promise<() => Promise<void>> {
    if (this.#open.size + this.#opening >= MAX_WATCHED) {
      const count = `${MAX_WATCHED} files and directories`;
      throw failure("too_many_watched", `${count} are already being watched.`);
    }
    this.#opening += 1;
    try {
      const stop = await start(this.#guard, await watchedPath(this.#guard, path), changed);
      this.#open.add(stop);
      return async () => {
        this.#open.delete(stop);
        await stop();
      };
    } finally {
      this.#opening -= 1;
    }
  }

  async close(): Promise<void> {
    const stops = [...this.#open];
    this.#open.clear();
    await Promise.all(stops.map((stop) => stop()));
  }
}

/** The real path of a file or directory, or the one that a missing file would get. */
async function watchedPath(guard: PathGuard, path: string): Promise<string> {
  const place = await placeOf(guard, path).catch(orDenied);
  if (place !== undefined && place.stat === undefined)
    return join(place.parent.realPath, place.name);
  const directory = await directoryAt(guard, path);
  await directory?.close();
  return directory?.realPath ?? (await withFile(guard, path, async (file) => file.realPath));
}

/** The parent of an allowed directory is not accessible. */
function orDenied(error: unknown): undefined {
  if (!(error instanceof ToolError) || error.kind !== "denied") throw error;
}

async function start(
  guard: PathGuard,
  realPath: string,
  changed: () => void,
): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const onEvent = () => {
    // The allowed directories may have narrowed since; changes outside are not reported.
    if (isStopped || timer !== undefined || !guard.contains(realPath)) return;
    timer = setTimeout(() => {
      timer = undefined;
      changed();
    }, QUIET_MS);
    timer.unref();
  };
  const open = async (usePolling: boolean): Promise<FSWatcher> => {
    const { watch } = await import("chokidar");
    const options = { depth: 0, followSymlinks: false, ignoreInitial: true };
    const system = { ignorePermissionErrors: true, usePolling, interval: POLL_MS };
    const watcher = watch(realPath, { ...options, ...system }).on("all", onEvent);
    await new Promise<void>((resolve) => {
      watcher.once("ready", resolve).once("error", () => resolve());
    });
    return watcher;
  };
  let watcher = await open(false);
  watcher.on("error", () => {
    if (isStopped) return;
    const failed = watcher;
    failed.removeAllListeners().on("error", () => undefined);
    void failed.close();
    // Watching fails if the system's limit is reached or the file system sends no events.
    void open(true).then((polling) => {
      watcher = polling.on("error", () => undefined);
      if (isStopped) void polling.close();
    });
  });
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await watcher.close();
  };
}
