import { connectInMemory } from "@refmcp/core/testing";
import { expect, it } from "vitest";
import { world } from "../../test/fixture.ts";
import { server } from "../server.ts";

it("finds lines, and says what is wrong with a note that is not there", async () => {
  const { args, dispose } = await world();
  const { client, close } = await connectInMemory(server, { args });
  try {
    const found = await client.callTool({ name: "sample_find", arguments: { query: "ada" } });
    expect(found.structuredContent).toMatchObject({
      lines: [{ line: 3, text: "Ada brings the tea." }],
    });
    const missing = await client.callTool({
      name: "sample_find",
      arguments: { query: "ada", path: "meting.md" },
    });
    expect(missing).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining("meting.md") }],
    });
  } finally {
    await close();
    await dispose();
  }
});
