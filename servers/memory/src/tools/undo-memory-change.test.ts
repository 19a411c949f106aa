import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("undoes and redoes a change", async () => {
  const { data } = await circle();
  for (const [change_id, relations] of [
    [2, 0],
    [3, 2],
  ]) {
    expect(await data("undo_memory_change", { change_id })).toMatchObject({ undone: change_id });
    expect(await data("memory_stats")).toMatchObject({ total: { relations } });
  }
});
