import { connectInMemory } from "@refmcp/core/testing";
import { expect, it } from "vitest";
import { world } from "../../test/fixture.ts";
import { server } from "../server.ts";

it("lists the notes, and no link that leads out", async () => {
  const { args, stable, dispose } = await world();
  const { client, close } = await connectInMemory(server, { args });
  try {
    const { contents } = await client.readResource({ uri: "sample://notes" });
    const [part] = contents;
    if (part === undefined || !("text" in part)) throw new Error("it has no text");
    expect(JSON.parse(stable(part.text))).toEqual([
      "/world/notes/ideas.md",
      "/world/notes/long.md",
      "/world/notes/meeting.md",
    ]);
  } finally {
    await close();
    await dispose();
  }
});
