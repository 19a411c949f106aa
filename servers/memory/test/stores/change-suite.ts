import { describe, expect, it } from "vitest";
import { recentChanges } from "../../src/graph/journal/changes.ts";
import { undoChange } from "../../src/graph/journal/undo.ts";
import { addObservations } from "../../src/graph/write/observations.ts";
import {
  deleteEntities,
  deleteObservations,
  deleteRelations,
} from "../../src/graph/write/remove.ts";
import {
  budget,
  create,
  entity,
  erase,
  type Fixture,
  forget,
  forgetFacts,
  forgetRelations,
  officialLines,
  relate,
  relation,
  removedCount,
} from "./help.ts";

export function changeSuite(fixture: Fixture): void {
  const dump = () => officialLines(fixture.store);
  const undo = (id: number | undefined) =>
    undoChange(fixture.store, id ?? -1, { action: "undo_memory_change" });

  describe("adding", () => {
    it("creates entities, and skips, merges or refuses those that exist", async () => {
      const { store } = fixture;
      const first = await create(store, [
        entity("Ada", "person", ["likes tea", "likes tea"]),
        entity("Ada"),
        entity("Bo"),
      ]);
      expect(first.entities).toEqual([entity("Ada", "person", ["likes tea"]), entity("Bo")]);
      expect(first.skipped).toEqual(["Ada"]);
      const again = await create(store, [entity("Ada", "robot", ["new"])]);
      expect(again).toEqual({ entities: [], skipped: ["Ada"] });
      await expect(create(store, [entity("Cy"), entity("Ada")], "error")).rejects.toMatchObject({
        kind: "conflict",
        message: 'The entity "Ada" already exists, with type "person". Nothing was created.',
        hint: expect.stringContaining("add_observations"),
      });
      const merged = await create(
        store,
        [
          entity("Ada", "robot", ["likes tea", "has a cat"]),
          entity("Dee"),
          entity("Dee", "x", ["y"]),
        ],
        "merge",
      );
      expect(merged.merged).toEqual([
        { entityName: "Ada", addedObservations: ["has a cat"], duplicates: ["likes tea"] },
      ]);
      expect(merged.entities).toEqual([entity("Dee", "person", ["y"])]);
      expect(await store.read((reader) => reader.counts())).toEqual({
        entities: 3,
        observations: 3,
        relations: 0,
      });
    });

    it("refuses empty and overlong texts, and writes nothing of that call", async () => {
      const { store } = fixture;
      for (const [refused, message] of [
        [[entity("fine"), entity(" ")], /entities\.1\.name.*must not be empty/],
        [[entity("a", "")], /entities\.0\.entityType/],
        [[entity("x".repeat(10_001))], /at most 10,000 characters; this one has 10,001/],
        [[entity("a", "b", [""])], /observations\.0/],
      ] as const)
        await expect(create(store, refused)).rejects.toMatchObject({
          kind: "invalid",
          message: expect.stringMatching(message),
        });
      expect(await dump()).toBe("");
    });

    it("adds observations, reports duplicates, refuses unknown entities with similar names", async () => {
      const { store } = fixture;
      await create(store, [entity("Ada Lovelace"), entity("Bo")]);
      const add = (entityName: string, ...contents: string[]) =>
        addObservations(store, [{ entityName, contents }], {
          action: "add_observations",
          source: "a letter",
        });
      expect((await add("Bo", "one", "two", "one")).results).toEqual([
        { entityName: "Bo", addedObservations: ["one", "two"], duplicates: ["one"] },
      ]);
      const nothing = await add("Bo", "two");
      expect(nothing).toEqual({
        results: [{ entityName: "Bo", addedObservations: [], duplicates: ["two"] }],
      });
      await expect(add("ada lovelac", "x")).rejects.toMatchObject({
        kind: "not_found",
        message: 'There is no entity "ada lovelac".',
        hint: expect.stringMatching(/"Ada Lovelace".*search_nodes.*create_entities/),
      });
      const { changes } = await recentChanges(store, { limit: 1, cursor: undefined, budget });
      expect(changes[0]).toMatchObject({
        action: "add_observations",
        source: "a letter",
        summary: "2 observations added",
        names: ["Bo"],
      });
    });

    it("relates entities, reports duplicates, and creates missing ones only on request", async () => {
      const { store } = fixture;
      await create(store, [entity("A"), entity("B")]);
      expect(
        (await relate(store, [relation("A", "knows", "B"), relation("A", "knows", "B")]))
          .duplicates,
      ).toHaveLength(1);
      await expect(
        relate(store, [relation("A", "likes", "B"), relation("A", "knows", "Z")]),
      ).rejects.toMatchObject({
        kind: "not_found",
        message: 'There is no entity "Z". No relation was created.',
        hint: expect.stringContaining("on_missing create"),
      });
      const result = await relate(
        store,
        [relation("A", "knows", "Z"), relation("B", "knows", "B")],
        "create",
      );
      expect(result.created_entities).toEqual(["Z"]);
      expect(await store.read((reader) => reader.counts())).toEqual({
        entities: 3,
        observations: 0,
        relations: 3,
      });
    });
  });

  describe("deleting and undoing", () => {
    it("deletes softly, reports what, and restores all of it", async () => {
      const { store } = fixture;
      await create(store, [entity("Ada", "person", ["a", "b"]), entity("Bo", "person", ["c"])]);
      await relate(store, [relation("Ada", "knows", "Bo"), relation("Bo", "knows", "Ada")]);
      const before = await dump();
      const deleted = await forget(store, ["Ada", "Nobody"]);
      expect(deleted).toMatchObject({
        success: true,
        deleted: { entities: 1, observations: 2, relations: 2 },
        not_found: ["Nobody"],
        message: `Deleted 1 entity, 2 observations, 2 relations. undo_memory_change with change_id ${deleted.change_id} restores what was deleted.`,
      });
      expect(await dump()).toBe(
        '{"type":"entity","name":"Bo","entityType":"person","observations":["c"]}',
      );
      await expect(forget(store, ["Ada"])).rejects.toMatchObject({
        kind: "not_found",
        hint: expect.stringContaining("Deleted:"),
      });
      const undone = await undo(deleted.change_id);
      expect(undone.message).toContain("1 entity, 2 observations, 2 relations deleted");
      expect(await dump()).toBe(before);
      await undo(undone.change_id);
      expect(await dump()).not.toContain("Ada");
      await expect(undo(deleted.change_id)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/already undone by change/),
      });
    });

    it("undoes an addition, and reports what prevents it", async () => {
      const { store } = fixture;
      const result = await create(store, [entity("A", "t", ["one"])]);
      const more = await addObservations(store, [{ entityName: "A", contents: ["two"] }], {
        action: "add_observations",
      });
      await expect(undo(result.change_id)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/"A" has gained observations/),
        hint: expect.stringMatching(/recent_changes/),
      });
      await undo(more.change_id);
      await undo(result.change_id);
      expect(await dump()).toBe("");
      await expect(undo(999)).rejects.toMatchObject({
        kind: "not_found",
        message: expect.stringMatching(/There is no change 999\. The latest change is \d+\./),
      });
    });

    it("refuses to restore what was added again", async () => {
      const { store } = fixture;
      await create(store, [entity("A", "t", ["one"])]);
      const gone = await forget(store, ["A"]);
      await create(store, [entity("A", "other")]);
      await expect(undo(gone.change_id)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/another entity is now named "A"/),
      });
      await create(store, [entity("B", "t", ["x"])]);
      const facts = await forgetFacts(store, "B", ["x"]);
      await addObservations(store, [{ entityName: "B", contents: ["x"] }], {
        action: "add_observations",
      });
      await expect(undo(facts.change_id)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/added again/),
      });
    });

    it("permanently erases only what the user confirmed", async () => {
      const { store } = fixture;
      await create(store, [
        entity("A", "t", ["secret", "dropped"]),
        entity("B", "t", ["keep", "erase"]),
      ]);
      await relate(store, [relation("A", "knows", "B")]);
      await forgetFacts(store, "A", ["dropped"]);
      const facts = { action: "delete_entities", hard: true };
      const question =
        'Permanently erase 1 entity, 2 observations, 1 relation from memory: "A"? This includes 1 observation that can still be restored.';
      expect(await deleteEntities(store, ["A"], facts)).toEqual({ question });
      expect(await dump()).toContain("secret");
      await addObservations(store, [{ entityName: "A", contents: ["new"] }], { action: "add" });
      await expect(
        deleteEntities(store, ["A"], { ...facts, agreed: question }),
      ).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/changed after the user was asked/),
      });
      const { answer } = await erase((hard) => deleteEntities(store, ["A"], hard));
      expect(answer.deleted).toEqual({ entities: 1, observations: 3, relations: 1 });
      await erase((hard) =>
        deleteObservations(store, [{ entityName: "B", observations: ["erase"] }], hard),
      );
      await expect(undo(answer.change_id)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(/permanently erased rows/),
      });
      expect(await dump()).toBe(
        '{"type":"entity","name":"B","entityType":"t","observations":["keep"]}',
      );
      const items = await store.read(async (reader) => {
        const entries: unknown[] = [];
        // One after the other: pg warns about concurrent queries on one connection.
        for (const { id } of await reader.changes(undefined, 99))
          entries.push(await reader.journal(id, 100));
        return JSON.stringify(entries);
      });
      expect(await removedCount(store)).toBe(0);
      expect(items).not.toContain("secret");
    });

    it("erases softly deleted data: entities, facts, relations", async () => {
      const { store } = fixture;
      await create(store, [entity("A", "t", ["secret"]), entity("B", "t", ["pin"]), entity("C")]);
      await relate(store, [relation("B", "knows", "C")]);
      const gone = await forget(store, ["A"]);
      const fact = await forgetFacts(store, "B", ["pin"]);
      const unlinked = await forgetRelations(store, [relation("B", "knows", "C")]);
      await erase((hard) => deleteEntities(store, ["A"], hard));
      await erase((hard) =>
        deleteObservations(store, [{ entityName: "B", observations: ["pin"] }], hard),
      );
      await erase((hard) => deleteRelations(store, [relation("B", "knows", "C")], hard));
      for (const { change_id } of [gone, fact, unlinked])
        await expect(undo(change_id)).rejects.toMatchObject({ kind: "conflict" });
      const zero = { entities: 0, observations: 0, relations: 0 };
      expect(await removedCount(store)).toBe(0);
      expect(await store.read((reader) => reader.counts())).toEqual({ ...zero, entities: 2 });
    });
  });
}
