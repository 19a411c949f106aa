import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("deletes with counts, can be undone, and asks before erasing", async () => {
  const questions: string[] = [];
  const { data, failure } = await circle({
    elicit: (params) => {
      questions.push(params.message);
      return { action: "decline" };
    },
  });
  const deleted = await data("delete_entities", { entityNames: ["Bo", "Nobody"] });
  expect(deleted).toMatchObject({
    success: true,
    deleted: { entities: 1, observations: 1, relations: 2 },
    not_found: ["Nobody"],
  });
  expect(await failure("delete_entities", { entityNames: ["Bo"] })).toMatch(
    /Deleted: "Bo"; to restore it, use recent_changes and undo_memory_change/,
  );
  await data("undo_memory_change", { change_id: deleted.change_id });
  expect(questions).toEqual([]);
  await failure("delete_entities", { entityNames: ["Bo"], hard: true });
  expect(questions).toEqual([
    'Permanently erase 1 entity, 1 observation, 2 relations from memory: "Bo"?',
  ]);
  expect(await data("open_nodes", { names: ["Bo"] })).toMatchObject({ entities: [{ name: "Bo" }] });
});
