import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("lists the journal in pages, newest first", async () => {
  const { data } = await circle();
  const first = await data("recent_changes", { limit: 1 });
  expect(first.changes).toMatchObject([
    { change_id: 2, action: "create_relations", summary: "2 relations added" },
  ]);
  expect(await data("recent_changes", { limit: 1, cursor: first.next_cursor })).toMatchObject({
    changes: [{ change_id: 1, summary: "3 entities, 3 observations added" }],
  });
});
