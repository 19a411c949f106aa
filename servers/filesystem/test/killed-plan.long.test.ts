import { expect, it } from "vitest";
import { killInPlan } from "./killed-plan.ts";

const TIMES = 12;

it("restores 1,000 moves with one undo after a kill at any moment", async () => {
  let interrupted = 0;
  for (let i = 0; i < TIMES; i++) {
    const moved = await killInPlan(1_000, 1 + Math.floor((i * 1_000) / TIMES));
    if (moved > 0 && moved < 1_000) interrupted += 1;
  }
  expect(interrupted).toBeGreaterThan(TIMES / 2);
}, 600_000);
