import { expect, it } from "vitest";
import { lossAction } from "./loss.ts";

it.each([
  [
    { tables: [{ table: "users", updated: 0, deleted: 5_000, inserted: 0 }] },
    "DELETE of 5,000 rows of users",
  ],
  [{ objects: ["DROP TABLE c (0 rows)"], reason: "off" }, "DROP TABLE c (0 rows)"],
  [
    {
      tables: [
        { table: "a", updated: 1, deleted: 0, inserted: 0 },
        { table: "b", updated: 0, deleted: 2, inserted: 0 },
      ],
      reason: "too large",
    },
    "DELETE of 2 rows of b, and 1 more",
  ],
  [{ weakened: ["GRANT"] }, undefined],
])("a button names the loss of %j", (loss, action) => {
  expect(lossAction(loss)).toBe(action);
});
