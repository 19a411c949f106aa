import { connectInMemory } from "@refmcp/core/testing";
import { expect, it } from "vitest";
import { world } from "../../test/fixture.ts";
import { server } from "../server.ts";

it("carries what a first search finds", async () => {
  const { args, dispose } = await world();
  const { client, close } = await connectInMemory(server, { args });
  try {
    const ask = async (topic: string) =>
      JSON.stringify(await client.getPrompt({ name: "sample_recall", arguments: { topic } }));
    expect(await ask("tea")).toContain("Ada brings the tea.");
    expect(await ask("zeppelin")).toContain("The search found nothing.");
  } finally {
    await close();
    await dispose();
  }
});
