import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../store.ts";
import { storeSuite } from "../suite/index.ts";
import { openSqliteStore } from "./store.ts";

storeSuite("a graph in SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-"));
  let count = 0;
  return {
    fresh() {
      count += 1;
      return openSqliteStore(join(folder, `${count}.db`));
    },
    again: (store: Store) => openSqliteStore(store.location),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});
