import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("undoes and redoes a change", async () => {
  const { data, failure } = await circle();
  expect(await failure("undo_memory_change", { change_id: 1 })).toMatch(
    /has gained observations or relations since.*\n.*recent_changes/,
  );
  const undone = await data("undo_memory_change", { change_id: 2 });
  expect(undone).toMatchObject({
    undone: 2,
    change_id: 3,
    message: expect.stringContaining("2 relations added"),
  });
  expect(await data("memory_stats")).toMatchObject({ total: { relations: 0 } });
  await data("undo_memory_change", { change_id: 3 });
  expect(await data("memory_stats")).toMatchObject({ total: { relations: 2 } });
  expect(await failure("undo_memory_change", { change_id: 99 })).toContain(
    "There is no change 99. The latest change is 4.",
  );
});
