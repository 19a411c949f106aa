import { connectInMemory } from "@refmcp/testing";
import { expect, it } from "vitest";
import { world } from "../../test/fixture.ts";
import { server } from "../server.ts";

it("counts characters, words and lines", async () => {
  const { args, env = {}, dispose } = await world();
  const { client, close } = await connectInMemory(server, {
    args: [...args, "--tools", "sample_tool"],
    env,
  });
  const count = async (text: string) =>
    (await client.callTool({ name: "sample_tool", arguments: { text } })).structuredContent;
  try {
    expect(await count("Grüße an\nAda 🙂")).toEqual({ characters: 14, words: 4, lines: 2 });
    expect(await count("")).toEqual({ characters: 0, words: 0, lines: 0 });
  } finally {
    await close();
    await dispose();
  }
});
