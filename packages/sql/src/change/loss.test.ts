import { expect, it } from "vitest";
import { lossAction, lossText } from "./loss.ts";

it("a loss names the largest first, and only why rows can't be restored", () => {
  const none = { inserted: 1, updated: 0, deleted: 0 };
  expect(lossText({ tables: [{ table: "a", ...none }], reason: "too large" })).toBeUndefined();
  const tables = [
    { table: "a", ...none, updated: 1 },
    { table: "b", ...none, deleted: 2_000 },
  ];
  expect(
    lossText({
      tables,
      objects: ["DROP TABLE c (0 rows)"],
      weakened: ["GRANT"],
      reason: "too large",
    }),
  ).toBe(
    "This cannot be undone: DROP TABLE c (0 rows); DELETE of 2,000 rows of b; UPDATE of 1 row of a (too large). This weakens protection: GRANT.",
  );
});

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
  [{ objects: ["DROP TABLE public.users (3 rows)"] }, "DROP TABLE public.users (3 rows)"],
])("a button names the loss of %j", (loss, action) => {
  expect(lossAction(loss)).toBe(action);
});
