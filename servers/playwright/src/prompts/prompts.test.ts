import { expect, it } from "vitest";
import { session } from "../../test/session.ts";

it("pw_write_test includes the page, the goal and the language", async () => {
  const { client } = (await session({ hasBrowser: false })).connected;
  const args = { url: "http://localhost:3000/", goal: "signing in" };
  const text = JSON.stringify(await client.getPrompt({ name: "pw_write_test", arguments: args }));
  for (const part of [`${args.url}: signing in.`, "no console errors", "pw_run_test"])
    expect(text).toContain(part);
});
