import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSqliteStore } from "../src/graph/store/sqlite-store.ts";
import type { Store } from "../src/graph/store/store.ts";

/** A folder, until the test ends. */
export async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An empty memory in a separate folder, or that of a file, until the test ends. */
export async function sqlite(file?: string): Promise<Store> {
  const store = await openSqliteStore(file ?? join(await temporary(), "memory.db"));
  onTestFinished(() => store.close());
  return store;
}
