import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { circle, session } from "../../test/session.ts";

const ada = { name: "Ada", entityType: "person", observations: ["likes tea"] };

it("create_entities returns what it created, like the official server, and what it skipped", async () => {
  const { data, failure } = await session();
  const entities = [ada];
  expect(await data("create_entities", { entities })).toEqual({ entities, change_id: 1 });
  expect(await data("create_entities", { entities })).toEqual({ entities: [], skipped: ["Ada"] });
  expect(await failure("create_entities", { entities, source: " " })).toContain("source");
});

it("create_entities truncates the echo of a large call to the budget, after everything was written", async () => {
  const { data } = await session();
  const entities = Array.from({ length: 1_000 }, (_, index) => ({ ...ada, name: `n${index}` }));
  const answer = await data("create_entities", { entities });
  expect(JSON.stringify(answer).length).toBeLessThan(20_000);
  const { entities: visibleEntities, not_shown } = answer;
  expect(Array.isArray(visibleEntities) && visibleEntities.length + Number(not_shown)).toBe(1_000);
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 1_000 } });
});

it("add_observations names the fact that a new one may contradict, with the id to replace", async () => {
  const { data } = await circle();
  const add = (contents: string[], replaces?: string[]) =>
    data("add_observations", { observations: [{ entityName: "Ada", contents, replaces }] });
  expect((await add(["Ada lives in Munich", "has a cat", "is a nurse"])).note).toBeUndefined();
  expect((await add(["lives in Leipzig, Nikolaistrasse 3"])).note).toBe(
    '"Ada" has "Ada lives in Munich" (#4). If "lives in Leipzig, Nikolaistrasse 3" replaces that, repeat the call with its id in replaces.',
  );
  expect(await add(["lives in Leipzig, Nikolaistrasse 3"], ["#4"])).toMatchObject({
    results: [{ addedObservations: [], superseded: ["Ada lives in Munich"] }],
  });
  // Another predicate, or a list of equal ones.
  expect((await add(["likes coffee", "is a painter", "Ada"])).note).toBeUndefined();
  await add([
    "read the book one",
    "read the book two",
    "read the book three",
    "read the book four",
  ]);
  expect((await add(["read the book five"])).note).toBeUndefined();
});

it("search_nodes passes on types and times, and refuses an invalid date", async () => {
  const { data, failure } = await circle();
  const search = async (args: object) =>
    (await data("search_nodes", { query: "tea", ...args })).entities;
  expect(await search({ types: ["place"] })).toEqual([]);
  expect(await search({ since: "2100-01-01" })).toEqual([]);
  expect(await search({ since: "2020-01-01", until: "2100-01-01T00:00:00Z" })).toHaveLength(3);
  expect(await failure("search_nodes", { query: "tea", until: "tomorrow" })).toMatch(
    /until: "tomorrow" is not a valid date\.\nUse an ISO 8601/,
  );
});

it("reading tools pass on depth, limits, cursors and the space", async () => {
  const { data } = await circle({ args: ["--space", "work"] });
  expect(await data("open_nodes", { names: ["Cy", "Adda"], depth: 2 })).toMatchObject({
    entities: [{ name: "Cy" }, { name: "Bo" }, { name: "Ada" }],
    not_found: ["Adda"],
  });
  expect(await data("open_nodes", { names: [] })).toEqual({ entities: [], relations: [] });
  const graph = await data("read_graph", { limit: 2 });
  expect(graph).toMatchObject({ entities: [{ name: "Ada" }, { name: "Bo" }] });
  const rest = await data("read_graph", { limit: 2, cursor: graph.next_cursor });
  expect(rest).toMatchObject({ entities: [{ name: "Cy" }] });
  const newest = await data("recent_changes", { limit: 1 });
  expect(newest.changes).toMatchObject([{ change_id: 2, summary: "2 relations added" }]);
  const older = await data("recent_changes", { limit: 1, cursor: newest.next_cursor });
  const summary = "3 entities, 3 observations added";
  expect(older.changes).toMatchObject([{ change_id: 1, summary }]);
  expect(await data("memory_stats")).toMatchObject({
    location: expect.stringMatching(/memory\.work\.db$/),
    total: { entities: 3, observations: 3, relations: 2 },
    entity_types: [{ type: "person", count: 3 }],
  });
});

it("writing tools pass on their options, and their changes can be undone unless erased", async () => {
  const { data, failure, folder } = await circle({ args: ["--confirm", "never"] });
  const relations = [{ from: "Ada", to: "Dee", relationType: "knows" }];
  expect(await failure("create_relations", { relations })).toContain('no entity "Dee"');
  expect(await data("create_relations", { relations, on_missing: "create" })).toMatchObject({
    relations,
    created_entities: ["Dee"],
  });
  expect(await data("delete_relations", { relations })).toMatchObject({ success: true });
  const line = { type: "entity", name: "Eve", entityType: "person", observations: ["from a file"] };
  await writeFile(join(folder, "old.jsonl"), `${JSON.stringify(line)}\nnonsense\n`);
  const imported = await data("import_graph", { path: "old.jsonl" });
  expect(imported).toMatchObject({ entities: 1, rejects: [{ line: 2, text: "nonsense" }] });
  await data("undo_memory_change", { change_id: imported.change_id });
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 4, relations: 2 } });
  expect(await failure("import_graph", { path: "missing.jsonl" })).toContain("missing.jsonl");
  const renaming = { name: "Ada", new_name: "Countess", new_type: "noble" };
  const updates = [renaming, { name: "Bo", merge_into: "Cy" }];
  expect(await data("update_entities", { updates })).toMatchObject({
    updated: [
      { before: { name: "Ada" }, after: { name: "Countess", entityType: "noble" } },
      { name: "Cy", moved: { observations: 1, relations: 1 } },
    ],
  });
  const deletions = [{ entityName: "Cy", observations: ["Cy likes tea", "never said"] }];
  expect(await data("delete_observations", { deletions })).toMatchObject({
    deleted: { observations: 1 },
    not_found: ["never said"],
  });
  const { change_id } = await data("delete_observations", { deletions, hard: true });
  expect(await failure("undo_memory_change", { change_id })).toContain("erased");
  const entityNames = ["Dee", "Nobody"];
  expect(await data("delete_entities", { entityNames })).toMatchObject({ not_found: ["Nobody"] });
  expect(await failure("delete_entities", { entityNames })).toMatch(
    /Deleted: "Dee"; to restore it/,
  );
});
