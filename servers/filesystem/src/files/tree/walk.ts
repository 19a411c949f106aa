import {
  type WalkedEntry as Entry,
  type EntryType,
  type GuardedDirectory,
  type PathGuard,
  TimeSlices,
  type WalkedDirectory,
} from "@refmcp/boundary";
import type { Exclusion } from "../search/glob.ts";
import type { IgnoreRules } from "../search/ignore.ts";

export interface Met {
  /** Below the walk's start, with `/` between components. */
  readonly path: string;
  readonly name: string;
  readonly type: EntryType;
  /** Its directory, open while it is visited. */
  readonly parent: WalkedDirectory;
}

export interface WalkOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit in milliseconds, after which the walk ends with `ended: "late"`. */
  readonly budgetMs?: number;
  /** Ignore rules; without them, only `.git` is hidden. */
  readonly ignore?: IgnoreRules | undefined;
  readonly git?: boolean;
  readonly exclude?: Exclusion;
  /** Continues after this path, as if everything before it had been visited. */
  readonly after?: string | undefined;
  /** Called between directories; the walk waits for it, so a slow consumer slows it down. */
  readonly rest?: () => Promise<void> | undefined;
}

export interface WalkReport {
  /** `stopped`: by the visitor; `late`: the time limit was reached. */
  readonly ended: "complete" | "stopped" | "late";
  /** The last path that was visited, for `after`. */
  readonly last: string | undefined;
  /** Entries hidden by ignore rules; the contents of a hidden directory are not counted. */
  readonly hidden: number;
  /** Of those, without `.git`. */
  readonly ignored: number;
  readonly unreadable: number;
}

/** What a visitor returns: continue, or end the walk after this entry. */
export type Visit = (met: Met) => "stop" | undefined;

/** Maximum levels below the start, since each level uses a descriptor. */
const MAX_DEPTH = 256;
/** How many entries are visited between two checks of the clock. */
const STRIDE = 64;

interface Frame {
  readonly directory: WalkedDirectory;
  readonly prefix: string;
  readonly entries: readonly Entry[];
  readonly ignore: IgnoreRules | undefined;
  /** The components of `after` from here on, while the walk still follows that path. */
  readonly after: readonly string[] | undefined;
  next: number;
}

/**
 * Visits everything below `root`: a directory before its contents, siblings by name, so paths are ordered by component.
 * Links are reported but never followed, and the walk stays in the tree even if directories are swapped for links (see
 * `WalkedDirectory`).
 *
 * It works in short synchronous slices, between which other calls are answered. Memory is bounded by the depth and the
 * size of single directories. The caller closes `root`.
 *
 * @throws the signal's reason if it aborts.
 */
export async function walk(
  guard: PathGuard,
  root: GuardedDirectory,
  options: WalkOptions,
  visit: Visit,
): Promise<WalkReport> {
  const start = await guard.walk(root);
  const slices = new TimeSlices(options.signal, options.budgetMs);
  const frames: Frame[] = [];
  let last: string | undefined;
  let [hidden, ignored, unreadable] = [0, 0, 0];

  /** Visits entries of `frame` until it reaches a directory to descend into, is stopped, or has to check the clock. */
  function advance(frame: Frame): Entry | "pause" | "stopped" | "done" {
    const { entries, prefix, directory } = frame;
    const { exclude, git } = options;
    for (let count = 0; count < STRIDE; count++) {
      const entry = entries[frame.next];
      if (entry === undefined) return "done";
      frame.next += 1;
      const { name, type } = entry;
      const path = prefix + name;
      const isDirectory = type === "directory";
      const isIgnored = frame.ignore?.hides(path, isDirectory) === true;
      if ((name === ".git" && git !== true) || isIgnored) {
        hidden += 1;
        if (isIgnored) ignored += 1;
        continue;
      }
      if (exclude?.hides(path, name, isDirectory)) continue;
      // The path to continue after, and its ancestors, were visited before.
      if (frame.after?.[0] !== name) {
        last = path;
        if (visit({ path, name, type, parent: directory }) === "stop") return "stopped";
      }
      if (isDirectory && !exclude?.hidesContents(path)) return entry;
    }
    return "pause";
  }

  function enter(child: WalkedDirectory | string, name: string, outer?: Frame): void {
    if (child === "unreadable") unreadable += 1;
    if (typeof child === "string") return;
    const prefix = outer === undefined ? "" : `${outer.prefix}${name}/`;
    const follows = outer === undefined || outer.after?.[0] === name;
    const path = outer === undefined ? options.after?.split("/") : outer.after?.slice(1);
    const after = follows && path?.[0] !== undefined ? path : undefined;
    const readEntries = child.entries();
    if (readEntries === undefined) unreadable += 1;
    const listing = readEntries ?? [];
    const ignore = (outer?.ignore ?? options.ignore)?.enter(child, listing, prefix);
    // Entries before the path to continue after were already visited and counted.
    const first = after?.[0];
    const entries = first === undefined ? listing : listing.filter(({ name }) => name >= first);
    frames.push({ directory: child, prefix, entries, ignore, after, next: 0 });
  }

  const report = (ended: WalkReport["ended"]): WalkReport => {
    return { ended, last, hidden, ignored, unreadable };
  };
  try {
    enter(start, "");
    while (true) {
      const frame = frames.at(-1);
      if (frame === undefined) return report("complete");
      if (slices.isDue()) {
        await slices.yieldToOthers();
        if (slices.isLate) return report("late");
      }
      const child = advance(frame);
      if (child === "stopped") return report("stopped");
      if (child === "done") {
        frames.pop();
        frame.directory.close();
        const wait = options.rest?.();
        if (wait !== undefined) await wait;
      } else if (child !== "pause") {
        const isDeep = frames.length >= MAX_DEPTH;
        enter(isDeep ? "unreadable" : frame.directory.child(child.name), child.name, frame);
      }
    }
  } finally {
    for (const frame of frames) frame.directory.close();
  }
}
