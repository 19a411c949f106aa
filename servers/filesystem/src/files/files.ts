import { type PathGuard, stateDirectories } from "@refmcp/boundary";
import { Locks } from "./open-path.ts";
import { Documents } from "./read/documents.ts";
import { Store } from "./store/store.ts";
import { Threads } from "./threads/thread-pool.ts";
import { Watchers } from "./watch.ts";

interface FilesOptions {
  readonly guard: PathGuard;
  /** How many days a change is kept; 0: only until its call ends. */
  readonly journalDays?: number;
  /** Candidates for the journal's directory, in order of preference; by default in the user's state directory. */
  readonly journalDirectories?: readonly string[];
  /** Patterns of the `--ignore` option. */
  readonly ignored?: readonly string[];
}

/** What the tools work with: the only way to the disk, and what lasts longer than one call. */
export interface Files {
  readonly guard: PathGuard;
  readonly ignored: readonly string[];
  readonly store: Store;
  readonly locks: Locks;
  readonly threads: Threads;
  readonly documents: Documents;
  readonly watchers: Watchers;
}

export function openFiles(options: FilesOptions): Files {
  const { guard, ignored = [], journalDays: days = 30 } = options;
  const { journalDirectories: directories = stateDirectories("filesystem") } = options;
  const threads = new Threads();
  return {
    guard,
    ignored,
    store: new Store({ directories, allowed: guard.allowed, days }),
    locks: new Locks(),
    threads,
    documents: new Documents(threads),
    watchers: new Watchers(guard),
  };
}

export async function closeFiles({ watchers, threads }: Files): Promise<void> {
  await Promise.all([watchers.close(), threads.close()]);
}
