import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("deletes facts by their exact text", async () => {
  const { data, failure } = await circle({ args: ["--confirm", "never"] });
  const deletions = [{ entityName: "Ada", observations: ["Ada likes tea", "never said"] }];
  expect(await data("delete_observations", { deletions })).toMatchObject({
    deleted: { observations: 1 },
    not_found: ["never said"],
  });
  expect(await failure("delete_observations", { deletions })).toMatch(
    /exact text; open_nodes shows it/,
  );
  const erased = await data("delete_observations", {
    deletions: [{ entityName: "Bo", observations: ["Bo likes tea"] }],
    hard: true,
  });
  expect(await failure("undo_memory_change", { change_id: erased.change_id })).toContain(
    "permanently erased rows",
  );
});
