import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("deletes facts by their text, and erases them if asked to", async () => {
  const { data, failure } = await circle({ args: ["--confirm", "never"] });
  const deletions = [{ entityName: "Ada", observations: ["Ada likes tea", "never said"] }];
  expect(await data("delete_observations", { deletions })).toMatchObject({
    deleted: { observations: 1 },
    not_found: ["never said"],
  });
  const erased = await data("delete_observations", { deletions, hard: true });
  expect(await failure("undo_memory_change", { change_id: erased.change_id })).toContain("erased");
});
