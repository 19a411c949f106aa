import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSqliteStore } from "../src/graph/store/sqlite-store.ts";
import { storeOfCall } from "../src/graph/store/store.ts";
import { importMemory } from "../src/graph/transfer/import.ts";
import { startServer } from "./process.ts";

let folder = "";
let file = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-memory-turns-"));
  file = join(folder, "memory.db");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lines = (count: number) =>
  Buffer.from(
    Array.from({ length: count }, (_, index) =>
      JSON.stringify({
        type: "entity",
        name: `e${index}`,
        entityType: "t",
        observations: ["a fact"],
      }),
    ).join("\n"),
  );

it("ends cancelled work, rolls it back, and continues", async () => {
  const store = await openSqliteStore(file);
  const controller = new AbortController();
  let done = 0;
  const call = storeOfCall(store, controller.signal, (items) => {
    done = items;
    // As a client's cancellation arrives: while the event loop runs.
    setImmediate(() => controller.abort(new Error("the call was cancelled")));
  });
  const importing = importMemory(call, lines(50_000), { action: "import_graph" });
  await expect(importing).rejects.toThrow("the call was cancelled");
  expect(done).toBeLessThan(50_000);
  const none = { entities: 0, observations: 0, relations: 0 };
  expect(await store.read((reader) => reader.counts())).toEqual(none);
  await importMemory(store, lines(10), { action: "import_graph" });
  expect(await store.read((reader) => reader.counts())).toMatchObject({ entities: 10 });
  await store.close();
});

it("answers pings during a long call", async () => {
  const server = await startServer(["--file", file]);
  const order: string[] = [];
  await server.call("memory_stats", {});
  const importing = server
    .call("import_graph", { text: lines(10_000).toString() })
    .then(({ isError, text }) => order.push(isError ? text : "import"));
  const ping = server.request("ping", {}).then(() => order.push("ping"));
  await Promise.all([importing, ping]);
  expect(order).toEqual(["ping", "import"]);
  await server.stop();
});
