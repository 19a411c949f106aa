import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

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
