/** The downloads of the last 15 minutes, so that all pieces of a page come from the same download. */
import type { Snapshot } from "../read/snapshot.ts";

/** How long a download is kept after its last use, in milliseconds, and the maximum bytes of all downloads. */
export const KEPT_MS = 900_000;
const KEPT_BYTES = 50_000_000;

export class SnapshotCache {
  /** By id, the least recently used first. */
  readonly #entries = new Map<string, { readonly snapshot: Snapshot; usedAt: number }>();
  readonly #byUrl = new Map<string, string>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The last download of a URL that is no older than `maxAgeMs`. */
  latest(url: string, maxAgeMs: number): Snapshot | undefined {
    const snapshot = this.byId(this.#byUrl.get(url) ?? "");
    return snapshot !== undefined && Date.now() - snapshot.fetchedAt <= maxAgeMs
      ? snapshot
      : undefined;
  }

  byId(id: string): Snapshot | undefined {
    this.#sweep();
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, { snapshot: entry.snapshot, usedAt: Date.now() });
    return entry.snapshot;
  }

  /** Stores a download. If one with the same content exists, it is kept with its extracted texts. */
  keep(url: string, download: Snapshot): Snapshot {
    const existing = this.byId(download.id);
    if (existing !== undefined) existing.fetchedAt = download.fetchedAt;
    const snapshot = existing ?? download;
    this.#entries.set(snapshot.id, { snapshot, usedAt: Date.now() });
    this.#byUrl.set(url, snapshot.id);
    this.#sweep();
    if (existing === undefined) this.#changed();
    return snapshot;
  }

  /** Newest first. */
  all(): Snapshot[] {
    this.#sweep();
    return [...this.#entries.values()].map(({ snapshot }) => snapshot).reverse();
  }

  /** The ids that begin with `start`, newest first. */
  ids(start: string): string[] {
    return this.all().flatMap(({ id }) => (id.startsWith(start) ? [id] : []));
  }

  #sweep(): void {
    const dead = Date.now() - KEPT_MS;
    let bytes = 0;
    for (const { snapshot } of this.#entries.values()) bytes += snapshot.size;
    for (const [id, { snapshot, usedAt }] of this.#entries) {
      // The last one is kept, however large, because it is in use.
      if (usedAt > dead && (bytes <= KEPT_BYTES || this.#entries.size === 1)) break;
      bytes -= snapshot.size;
      this.#entries.delete(id);
    }
    for (const [url, id] of this.#byUrl) if (!this.#entries.has(id)) this.#byUrl.delete(url);
  }
}
