import { expect, it } from "vitest";
import { storeOfCall } from "../src/graph/store/store.ts";
import { importMemory } from "../src/graph/transfer/import.ts";
import { startServer } from "./process.ts";
import { sqlite } from "./temporary.ts";

const line = (name: string) =>
  JSON.stringify({ type: "entity", name, entityType: "t", observations: ["a fact"] });
const lines = (count: number) =>
  Buffer.from(Array.from({ length: count }, (_, index) => line(`e${index}`)).join("\n"));

it("ends cancelled work, rolls it back, and continues", async () => {
  const store = await sqlite();
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
});

it("answers pings during a long call", async () => {
  const server = await startServer();
  const order: string[] = [];
  await server.call("memory_stats", {});
  const importing = server
    .call("import_graph", { text: lines(10_000).toString() })
    .then(({ isError, text }) => order.push(isError ? text : "import"));
  const ping = server.request("ping", {}).then(() => order.push("ping"));
  await Promise.all([importing, ping]);
  expect(order).toEqual(["ping", "import"]);
});
