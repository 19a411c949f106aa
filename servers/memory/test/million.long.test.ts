import { expect, it } from "vitest";
import { type ServerProcess, startServer } from "./process.ts";
import { sqlite } from "./temporary.ts";

const ENTITIES = 1_000;
const EACH = 1_000;

it("a graph of a million observations is written, searched, read and changed like a small one", async () => {
  const store = await sqlite();
  for (let at = 0; at < ENTITIES; at += 50) {
    await store.write(async (writer) => {
      writer.startChange({ action: "create_entities" });
      const names = Array.from({ length: 50 }, (_, index) => ({
        name: `Shelf ${at + index}`,
        type: "shelf",
      }));
      const ids = await writer.addEntities(names);
      const rows = ids.flatMap((entityId, index) =>
        Array.from({ length: EACH }, (_, fact) => ({
          entityId,
          content: `book b${(at + index) * EACH + fact}k`,
        })),
      );
      await writer.addObservations(rows);
      await writer.finish();
    });
  }
  const server = await startServer(["--file", store.location]);
  const data: ServerProcess["data"] = async (tool, args) => {
    const answer = await server.data(tool, args);
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(20_000);
    return answer;
  };
  expect(await data("memory_stats", {})).toMatchObject({
    total: { entities: ENTITIES, observations: ENTITIES * EACH },
  });
  expect(await data("search_nodes", { query: "b654321k" })).toMatchObject({
    entities: [{ name: "Shelf 654" }],
  });
  // Every fact has this word: only the newest are ranked.
  expect(await data("search_nodes", { query: "book" })).toMatchObject({
    entities: [{ name: `Shelf ${ENTITIES - 1}` }],
    total_is_minimum: true,
  });
  expect((await data("search_nodes", { query: "ook b654321" })).entities).toMatchObject([
    { name: "Shelf 654" },
  ]);
  const opened = await data("open_nodes", { names: ["Shelf 7"] });
  expect(opened).toMatchObject({
    entities: [{ name: "Shelf 7", observations: { length: EACH } }],
  });
  expect(await data("read_graph", {})).toMatchObject({
    total: { observations: ENTITIES * EACH },
  });
  const added = await data("add_observations", {
    observations: [{ entityName: "Shelf 7", contents: ["book b7000k", "a globe"] }],
  });
  expect(added.results).toMatchObject([
    { addedObservations: ["a globe"], duplicates: ["book b7000k"] },
  ]);
  await data("delete_entities", { entityNames: ["Shelf 654"] });
  expect((await data("search_nodes", { query: "b654321k" })).entities).toEqual([]);
}, 600_000);
