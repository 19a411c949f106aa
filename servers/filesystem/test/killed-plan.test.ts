import { expect, it } from "vitest";
import { killInPlan } from "./killed-plan.ts";

it("restores everything with one undo after the server was killed in the middle of a plan", async () => {
  const moved = [await killInPlan(150, 1), await killInPlan(150, 50), await killInPlan(150, 101)];
  expect(moved.some((count) => count > 0 && count < 150)).toBe(true);
});
