import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, useWorld } from "../servers.ts";
import { connectApps, expectHarmless, HOSTILE, useViews } from "./host.ts";

describe("the graph of a memory", () => {
  const show = useViews();
  const world = useWorld("memory");
  let client: Client;
  beforeAll(async () => {
    client = await connectApps(serverBin("memory"), world().args);
    await client.callTool({
      name: "create_entities",
      arguments: {
        entities: [{ name: "Notes", entityType: HOSTILE.slice(0, 90), observations: [HOSTILE] }],
      },
    });
    await client.callTool({
      name: "create_relations",
      arguments: { relations: [{ from: "Ada", to: "Notes", relationType: "wrote" }] },
    });
  });
  afterAll(() => client.close());
  const shownFor = async (name: string, given: Record<string, unknown>, theme?: "dark") => {
    const call = { name, arguments: given };
    return show(client, call, await client.callTool(call), theme);
  };

  it("opens an entity with the keyboard, with its facts and relations", async () => {
    const shown = await shownFor("search_nodes", { query: "first program" });
    const ada = shown.view.getByRole("button", { name: /^Ada, person/ });
    await ada.focus();
    await shown.page.keyboard.press("Enter");
    await shown.view.getByRole("heading", { name: "Ada person" }).waitFor();
    await shown.view.getByText("likes tea").waitFor();
    expect(await ada.getAttribute("aria-pressed")).toBe("true");
    expect(await ada.evaluate((node) => node === node.ownerDocument.activeElement)).toBe(true);
    await shown.view.getByRole("button", { name: "works with → Charles" }).click();
    await shown.view.getByText("designed the Analytical Engine").waitFor();
    await shown.view.getByRole("button", { name: /^Analytical Engine, machine/ }).waitFor();
    await shown.view.getByRole("button", { name: "works with ← Ada" }).click();
    await shown.view.getByRole("button", { name: "wrote → Notes" }).click();
    await shown.view.getByRole("heading", { name: /^Notes/ }).waitFor();
    expect(shown.asked.map(({ params }) => params.name)).toEqual(Array(4).fill("open_nodes"));
    await expectHarmless(shown);
    await shown.page.close();
  });

  it("searches, and starts a new graph with the results", async () => {
    const shown = await shownFor("open_nodes", { names: ["Mary"] }, "dark");
    await shown.view.getByText("teaches mathematics").waitFor();
    await shown.view.getByRole("searchbox", { name: "Search the memory" }).fill("machine");
    await shown.page.keyboard.press("Enter");
    await shown.view.getByRole("button", { name: /^Analytical Engine/ }).waitFor();
    expect(await shown.view.getByRole("button", { name: /^Mary/ }).count()).toBe(0);
    expect(await shown.view.getByText("teaches mathematics").isVisible()).toBe(false);
    await shown.page.close();
  });

  it("of a large memory is drawn in part, and continues with the next page", async () => {
    const shown = await shownFor("read_graph", { limit: 300 });
    const status = shown.view.getByRole("status");
    const entities = async () => Number.parseInt((await status.textContent()) ?? "", 10);
    await expect.poll(entities).toBeGreaterThan(100);
    const before = await entities();
    expect(await shown.view.locator(".node").count()).toBe(100);
    await shown.view.getByRole("button", { name: "Load more" }).click();
    await expect.poll(entities).toBeGreaterThan(before);
    await shown.page.close();
  });

  it("shows related entities, and the text of an error", async () => {
    const shown = await shownFor("find_related", { name: "Ada" });
    await shown.view.getByRole("button", { name: /^Analytical Engine/ }).waitFor();
    await shown.page.close();
    const failed = await shownFor("find_related", { name: "Nobody" });
    await failed.view.getByRole("alert").filter({ hasText: "Nobody" }).waitFor();
    await failed.page.close();
  });
});
