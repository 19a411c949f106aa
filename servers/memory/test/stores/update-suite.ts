import { describe, expect, it } from "vitest";
import { undoChange } from "../../src/graph/journal/undo.ts";
import { updateEntities } from "../../src/graph/write/update.ts";
import { create, entity, type Fixture, officialLines, relate, relation } from "./help.ts";

export function updateSuite(fixture: Fixture): void {
  const dump = () => officialLines(fixture.store);
  const undo = (id: number | undefined) =>
    undoChange(fixture.store, id ?? -1, { action: "undo_memory_change" });
  const update = (...updates: Parameters<typeof updateEntities>[1]) =>
    updateEntities(fixture.store, updates, { action: "update_entities" });

  describe("updating", () => {
    it("renames (relations follow), changes types, and undoes it", async () => {
      const { store } = fixture;
      await create(store, [entity("A", "t", ["one"]), entity("B")]);
      await relate(store, [relation("A", "knows", "B")]);
      const before = await dump();
      const renamed = await update({ name: "A", new_name: "Z", new_type: "u" });
      expect(renamed.updated).toEqual([
        {
          name: "Z",
          before: { name: "A", entityType: "t" },
          after: { name: "Z", entityType: "u" },
        },
      ]);
      expect(await dump()).toContain(
        '{"type":"relation","from":"Z","to":"B","relationType":"knows"}',
      );
      await undo(renamed.change_id);
      expect(await dump()).toBe(before);
    });

    it("merges one entity into another, and undoes it", async () => {
      const { store } = fixture;
      await create(store, [
        entity("Bob", "person", ["a", "b"]),
        entity("Robert", "person", ["b", "c"]),
        entity("Eve"),
      ]);
      await relate(store, [
        relation("Bob", "knows", "Eve"),
        relation("Robert", "knows", "Eve"),
        relation("Eve", "likes", "Bob"),
        relation("Bob", "is", "Robert"),
      ]);
      const before = await dump();
      const merged = await update({ name: "Bob", merge_into: "Robert" });
      expect(merged.updated[0]).toMatchObject({
        name: "Robert",
        moved: { observations: 1, relations: 1 },
      });
      const after = await dump();
      expect(after.split("\n").sort()).toEqual([
        '{"type":"entity","name":"Eve","entityType":"person","observations":[]}',
        '{"type":"entity","name":"Robert","entityType":"person","observations":["a","b","c"]}',
        '{"type":"relation","from":"Eve","to":"Robert","relationType":"likes"}',
        '{"type":"relation","from":"Robert","to":"Eve","relationType":"knows"}',
      ]);
      await undo(merged.change_id);
      expect(await dump()).toBe(before);
    });

    it("refuses contradictory arguments", async () => {
      await create(fixture.store, [entity("A"), entity("B")]);
      await expect(update({ name: "A", new_name: "B" })).rejects.toMatchObject({
        kind: "conflict",
        hint: expect.stringMatching(/merge_into "B"/),
      });
      for (const [kind, ...updates] of [
        ["invalid", { name: "A" }],
        ["invalid", { name: "A", merge_into: "A" }],
        ["invalid", { name: "A", merge_into: "B", new_name: "C" }],
        ["not_found", { name: "A", new_name: "C" }, { name: "X", new_type: "t" }],
      ] as const)
        await expect(update(...updates)).rejects.toMatchObject({ kind });
      expect(await dump()).not.toContain('"C"');
    });
  });
}
