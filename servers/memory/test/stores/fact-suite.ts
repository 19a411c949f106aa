import { describe, expect, it } from "vitest";
import { undoChange } from "../../src/graph/journal/undo.ts";
import { openNodes } from "../../src/graph/read/nodes.ts";
import { searchNodes } from "../../src/graph/search/search.ts";
import { addObservations } from "../../src/graph/write/observations.ts";
import { deleteObservations } from "../../src/graph/write/remove.ts";
import { updateEntities } from "../../src/graph/write/update.ts";
import { budget, create, entity, erase, type Fixture, forget, forgetFacts } from "./help.ts";

const add = { action: "add_observations" };

export function factSuite(fixture: Fixture): void {
  const open = async (name: string, history = true) =>
    (await openNodes(fixture.store, { names: [name], depth: 0, history, budget })).entities[0];
  const search = async (query: string) =>
    (await searchNodes(fixture.store, { query, limit: 20, budget })).entities;
  const replace = (entityName: string, contents: string[], replaces: string[]) =>
    addObservations(fixture.store, [{ entityName, contents, replaces }], add);
  const undo = (id: number | undefined) =>
    undoChange(fixture.store, id ?? -1, { action: "undo_memory_change" });
  const observationCount = async () =>
    (await fixture.store.read((reader) => reader.counts())).observations;
  /** Everything that is stored about observations. */
  const rows = (ids = [1, 2, 3, 4, 5, 6]) =>
    fixture.store.read((reader) => reader.observationsById(ids));

  describe("facts that change", () => {
    it("are replaced by text or id: the old one is history, and in no other answer", async () => {
      await create(
        fixture.store,
        [entity("Ada", "person", ["lives in Vienna", "likes tea"])],
        "skip",
        "Bo",
      );
      const { results, change_id } = await replace("Ada", ["lives in Graz"], ["lives in Vienna"]);
      expect(results).toEqual([
        {
          entityName: "Ada",
          addedObservations: ["lives in Graz"],
          superseded: ["lives in Vienna"],
        },
      ]);
      expect(await open("Ada", false)).toMatchObject({
        observations: ["likes tea", "lives in Graz"],
      });
      expect((await open("Ada", false))?.history).toBeUndefined();
      expect(await open("Ada")).toMatchObject({
        observations: ["likes tea", "lives in Graz"],
        ids: ["#2", "#3"],
        history: [
          {
            id: "#1",
            observation: "lives in Vienna",
            learned: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ, Bo$/),
            until: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/),
            replaced_by: "#3",
          },
        ],
      });
      expect(await search("vienna")).toEqual([]);
      expect((await search("graz"))[0]?.observations?.[0]).toBe("lives in Graz");
      expect(await observationCount()).toBe(2);
      await replace("Ada", ["lives in Linz"], ["#3"]);
      expect((await open("Ada"))?.history).toMatchObject([
        { observation: "lives in Vienna", replaced_by: "#3" },
        { observation: "lives in Graz", replaced_by: "#4" },
      ]);
      // What was true once can be true again.
      await replace("Ada", ["lives in Vienna"], ["lives in Linz"]);
      expect(await open("Ada", false)).toMatchObject({
        observations: ["likes tea", "lives in Vienna"],
      });
      await expect(undo(change_id)).rejects.toMatchObject({ kind: "conflict" });
    });

    it("are restored exactly by an undo, and replaced again by another", async () => {
      await create(fixture.store, [entity("Ada", "person", ["lives in Vienna", "likes tea"])]);
      const before = await rows();
      const { change_id } = await replace("Ada", ["lives in Graz"], ["lives in Vienna"]);
      const after = await rows();
      const undone = await undo(change_id);
      expect(await rows([1, 2])).toEqual(before);
      expect(await search("vienna")).toMatchObject([{ name: "Ada" }]);
      expect(await search("graz")).toEqual([]);
      expect(await observationCount()).toBe(2);
      await undo(undone.change_id);
      expect(await rows()).toEqual(after);
      expect(await search("vienna")).toEqual([]);
      expect(await observationCount()).toBe(2);
    });

    it("keep their history when their entity is merged, deleted and restored", async () => {
      await create(fixture.store, [
        entity("Bob", "person", ["lives in Vienna"]),
        entity("Robert", "person", ["lives in Vienna", "likes tea"]),
      ]);
      await replace("Bob", ["lives in Graz"], ["lives in Vienna"]);
      const before = await rows();
      const merged = await updateEntities(fixture.store, [{ name: "Bob", merge_into: "Robert" }], {
        action: "u",
      });
      expect(await open("Robert")).toMatchObject({
        observations: ["lives in Vienna", "likes tea", "lives in Graz"],
        history: [{ observation: "lives in Vienna", replaced_by: "#4" }],
      });
      const gone = await forget(fixture.store, ["Robert"]);
      expect(await observationCount()).toBe(0);
      await undo(gone.change_id);
      expect((await open("Robert"))?.history).toHaveLength(1);
      await undo(merged.change_id);
      expect(await rows()).toEqual(before);
      expect(await observationCount()).toBe(3);
    });

    it("are deleted and erased from the history too", async () => {
      await create(fixture.store, [entity("Ada", "person", ["lives in Vienna"])]);
      await replace("Ada", ["lives in Graz"], ["lives in Vienna"]);
      const { change_id } = await forgetFacts(fixture.store, "Ada", ["lives in Vienna"]);
      expect((await open("Ada"))?.history).toBeUndefined();
      await undo(change_id);
      expect((await open("Ada"))?.history).toHaveLength(1);
      const old = [{ entityName: "Ada", observations: ["lives in Vienna"] }];
      await erase((hard) => deleteObservations(fixture.store, old, hard));
      expect(await rows()).toMatchObject([{ content: "lives in Graz", supersededAt: null }]);
      expect(await observationCount()).toBe(1);
    });

    it("change nothing if a replaced fact is unknown, or would replace itself", async () => {
      await create(fixture.store, [
        entity("Ada", "person", ["lives in Vienna"]),
        entity("Bo", "person", ["x"]),
      ]);
      await expect(replace("Ada", ["lives in Graz"], ["lives in Viena"])).rejects.toMatchObject({
        kind: "not_found",
        message: '"Ada" has no current fact "lives in Viena"; nothing was changed.',
        hint: expect.stringContaining('Did you mean "lives in Vienna"?'),
      });
      // The fact of another entity.
      await expect(replace("Ada", ["lives in Graz"], ["#2"])).rejects.toMatchObject({
        kind: "not_found",
      });
      await expect(replace("Ada", ["lives in Vienna"], ["#1"])).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringContaining("would replace itself"),
      });
      await expect(replace("Ada", [], ["#1"])).rejects.toMatchObject({ kind: "invalid" });
      expect(await rows()).toMatchObject([
        { content: "lives in Vienna", supersededAt: null },
        { content: "x", supersededAt: null },
      ]);
    });

    it("are in the order of their times, newest first among equal matches", async () => {
      await create(fixture.store, [entity("Ada", "person", ["lives in Vienna"])]);
      await fixture.store.write(async (writer) => {
        writer.startChange(add);
        await writer.addObservations([
          { entityId: 1, content: "lives in Graz", createdAt: Date.UTC(2020, 4, 1) },
          { entityId: 1, content: "lives in Linz", createdAt: Date.UTC(1969, 4, 1) },
        ]);
        await writer.finish();
      });
      const times = ["lives in Linz", "lives in Graz", "lives in Vienna"];
      expect(await open("Ada")).toMatchObject({
        observations: times,
        learned: ["1969-05-01", "2020-05-01", expect.any(String)],
      });
      expect((await search("where does Ada live"))[0]?.observations).toEqual(times.toReversed());
      expect(await observationCount()).toBe(3);
    });
  });
}
