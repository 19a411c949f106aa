import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, it } from "vitest";
import { serverBin } from "../servers.ts";
import { researchMemory } from "./data/memory.ts";
import { connectApps, type Look, useViews } from "./host.ts";
import { expectPicture, LOOKS } from "./pictures.ts";

describe("a memory of 400 entities looks as in the pictures", () => {
  const show = useViews();
  let folder = "";
  let client: Client;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "refmcp-apps-graph-"));
    client = await connectApps(serverBin("memory"), ["--file", join(folder, "memory.db")]);
    const { entities, relations } = researchMemory();
    await client.callTool({ name: "create_entities", arguments: { entities } });
    await client.callTool({ name: "create_relations", arguments: { relations } });
  });
  afterAll(async () => {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  });
  const shownFor = async (look: Look) => {
    const call = { name: "read_graph", arguments: {} };
    const shown = await show(client, call, await client.callTool(call), look);
    await shown.view.getByRole("status").filter({ hasText: "with the most relations" }).waitFor();
    return shown;
  };

  it.each(LOOKS)("as the best connected: $name", async ({ name, look }) => {
    const shown = await shownFor(look);
    await expectPicture(shown, `graph-${name}`);
    await shown.page.close();
  });

  it.each(LOOKS)("with an opened entity: $name", async ({ name, look }) => {
    const shown = await shownFor(look);
    await shown.view.getByRole("button", { name: /^Lisbon, city/ }).click();
    await shown.view.getByRole("heading", { name: "Lisbon city" }).waitFor();
    await expectPicture(shown, `graph-opened-${name}`);
    await shown.page.close();
  });
});
