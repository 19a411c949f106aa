import type { PathGuard } from "@refmcp/core/boundary";
import { openStore } from "./open.ts";
import type { Place } from "./place.ts";
import type { Store } from "./store.ts";
import { GraphWatch } from "./watch.ts";

/** An opened memory: the store of one space, a watch on it, and the files that may be imported and exported. */
export class Memory {
  readonly store: Store;
  readonly space: string;
  readonly watch: GraphWatch;
  readonly paths: PathGuard;

  private constructor(store: Store, space: string, paths: PathGuard) {
    this.store = store;
    this.space = space;
    this.watch = new GraphWatch(store);
    this.paths = paths;
  }

  /**
   * @param note is told in one sentence what was imported from an official file.
   * @throws ToolError where the place cannot be opened; see `openStore`.
   */
  static async open(place: Place, paths: PathGuard, note: (sentence: string) => void): Promise<Memory> {
    return new Memory(await openStore(place, note), place.space, paths);
  }

  async close(): Promise<void> {
    this.watch.close();
    await this.store.close();
  }
}
