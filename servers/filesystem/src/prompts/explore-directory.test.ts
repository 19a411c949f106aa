import { connectInMemory, type World } from "@refmcp/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { world as makeWorld } from "../../test/fixture.ts";
import { server } from "../server.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.dispose());

it("contains the directory's names and the goal, on lines that a name cannot forge", async () => {
  const { client, close } = await connectInMemory(server, { args: world.args });
  const ask = async (args: Record<string, string>) =>
    JSON.stringify(
      (await client.getPrompt({ name: "explore_directory", arguments: args })).messages,
    );
  expect(await ask({})).toContain("- README.md\\n");
  const text = await ask({ path: "src", goal: "fix a\nbug" });
  expect(text).toContain("because I want to: fix a\\\\nbug.");
  expect(text).toContain("- greet.ts\\n- main.ts\\n");
  await expect(
    client.getPrompt({ name: "explore_directory", arguments: { path: "../.." } }),
  ).rejects.toMatchObject({ code: -32602 });
  await close();
});
