import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./append-insight.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("adds to the memo and notifies subscribers", async () => {
  const { databases, call } = await enter();
  let told = 0;
  databases.insights.listen(() => (told += 1));
  expect(databases.insights.memo()).toBe("No business insights have been discovered yet.");
  await tool.run(of({ insight: "Tea sells." }), databases, call);
  expect(databases.insights.memo()).toContain("- Tea sells.");
  expect(told).toBe(1);
});
