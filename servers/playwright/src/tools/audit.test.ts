import { expect, it } from "vitest";
import { session } from "../../test/session.ts";

// audit.long.test.ts has the audits of pages.
it("refuses an unknown category", async () => {
  const talk = await session({ hasBrowser: false });
  const answer = await talk.call("pw_audit", { url: "http://127.0.0.1:1/", categories: ["speed"] });
  expect(answer).toMatchObject({ isError: true, text: expect.stringContaining("accessibility") });
});
