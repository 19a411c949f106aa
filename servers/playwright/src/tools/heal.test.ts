import { expect, it } from "vitest";
import { session } from "../../test/session.ts";

// heal.long.test.ts heals runs, test/heal.long.test.ts specs.
it("takes a run or a file, and says which it needs", async () => {
  const talk = await session({ hasBrowser: false });
  for (const given of [{}, { run_id: "20260101-000000-00000000", file: "tasks.spec.js" }]) {
    const { isError, text } = await talk.call("pw_heal", given);
    expect(isError).toBe(true);
    expect(text).toContain("Pass either run_id or file.");
  }
  const unknown = await talk.call("pw_heal", { run_id: "20260101-000000-00000000" });
  expect(unknown.text).toContain("There is no run");
});
