import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  const shownFor = async (name: string, input: Record<string, unknown>, theme?: "dark") => {
    const call = { name, arguments: input };
    return show(client, call, await client.callTool(call), theme);
  };

  it("opens an entity with the keyboard, with its facts and relations", async () => {
    const app = await shownFor("search_nodes", { query: "first program" });
    const ada = app.view.getByRole("button", { name: /^Ada, person/ });
    await ada.focus();
    await app.page.keyboard.press("Enter");
    await app.view.getByRole("heading", { name: "Ada person" }).waitFor();
    await app.view.getByText("likes tea").waitFor();
    expect(await ada.getAttribute("aria-pressed")).toBe("true");
    await app.view.getByRole("button", { name: "works with → Charles" }).click();
    await app.view.getByText("designed the Analytical Engine").waitFor();
    await app.view.getByRole("button", { name: /^Analytical Engine, machine/ }).waitFor();
    await app.view.getByRole("button", { name: "works with ← Ada" }).click();
    await app.view.getByRole("button", { name: "wrote → Notes" }).click();
    await app.view.getByRole("heading", { name: /^Notes/ }).waitFor();
    expect(app.asked.map(({ params }) => params.name)).toEqual(Array(4).fill("open_nodes"));
    await expectHarmless(app);
    await app.page.close();
  });

  it("searches, and starts a new graph with the results", async () => {
    const app = await shownFor("open_nodes", { names: ["Mary"] }, "dark");
    await app.view.getByText("teaches mathematics").waitFor();
    await app.view.getByRole("searchbox", { name: "Search the memory" }).fill("machine");
    await app.page.keyboard.press("Enter");
    await app.view.getByRole("button", { name: /^Analytical Engine/ }).waitFor();
    expect(await app.view.getByRole("button", { name: /^Mary/ }).count()).toBe(0);
    expect(await app.view.getByText("teaches mathematics").isVisible()).toBe(false);
    await app.page.close();
  });

  it("joins the facts of an entity that the server returns in parts", async () => {
    const observations = Array.from({ length: 40 }, (_, n) => `fact ${n} `.padEnd(900, "x"));
    const entity = { name: "Long", entityType: "note", observations };
    await client.callTool({ name: "create_entities", arguments: { entities: [entity] } });
    const { view, page } = await shownFor("open_nodes", { names: ["Long"] });
    const facts = view.locator("section li");
    await facts.filter({ hasText: /^fact 0 / }).waitFor();
    expect(await facts.count()).toBeLessThan(40);
    const more = view.getByRole("button", { name: "Load more" });
    await more.click();
    await facts.filter({ hasText: /^fact 39 / }).waitFor();
    expect(await facts.count()).toBe(40);
    expect(await more.isVisible()).toBe(false);
    await page.close();
  });

  it("shows related entities, and the text of an error", async () => {
    const app = await shownFor("open_nodes", { names: ["Ada"], depth: 1 });
    await app.view.getByRole("button", { name: /^Analytical Engine/ }).waitFor();
    await app.page.close();
    const failed = await shownFor("open_nodes", { names: ["Nobody"] });
    await failed.view.getByRole("alert").filter({ hasText: "Nobody" }).waitFor();
    await failed.page.close();
  });
});

const CITIES = ["Lisbon", "Oslo", "Kyoto", "Nairobi", "Boston"];
const ORGANIZATIONS = ["Institute", "University", "Weather Service", "Data Lab", "Port Authority"];

/** 400 entities: cities with their organizations, and people, of whom some live in a city. */
function research() {
  const organizations = CITIES.flatMap((city) => ORGANIZATIONS.map((kind) => `${city} ${kind}`));
  const people = Array.from({ length: 370 }, (_, at) => `Person ${at}`);
  const cityOf = (at: number) => CITIES[at % 5] ?? "";
  return {
    entities: [
      ...CITIES.map((name, at) => [name, "city", `has an office since ${2009 + at}`]),
      ...organizations.map((name) => [name, "organization", "measures tides"]),
      ...people.map((name, at) => [name, "person", `joined in ${2010 + (at % 16)}`]),
    ].map(([name, entityType, fact]) => ({ name, entityType, observations: [fact] })),
    relations: [
      ...organizations.map((from) => [from, "is based in", from.split(" ")[0]]),
      ...people.map((from, at) => [from, "works for", organizations[at % 25]]),
      ...people.filter((_, at) => at % 4 === 0).map((from, at) => [from, "lives in", cityOf(at)]),
    ].map(([from, relationType, to]) => ({ from, relationType, to })),
  };
}

describe("the graph of 400 entities", () => {
  const show = useViews();
  let folder = "";
  let client: Client;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "refmcp-apps-graph-"));
    client = await connectApps(serverBin("memory"), ["--file", join(folder, "memory.db")]);
    const { entities, relations } = research();
    await client.callTool({ name: "create_entities", arguments: { entities } });
    await client.callTool({ name: "create_relations", arguments: { relations } });
  });
  afterAll(async () => {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("lists what is loaded, loads more from the server, and opens an entity with the facts about it", async () => {
    const call = { name: "read_graph", arguments: {} };
    const app = await show(client, call, await client.callTool(call));
    const { view, page } = app;
    const status = view.getByRole("status");
    await status
      .filter({ hasText: /^\d+ of 400 entities, \d+ of 488 relations; 12 drawn\.$/ })
      .waitFor();
    const entries = view.getByRole("list", { name: "Entities" }).getByRole("listitem");
    const first = await entries.count();
    expect(first).toBeGreaterThan(50);
    const more = view.getByRole("button", { name: "Load more" });
    while (await more.isVisible()) {
      const before = await status.textContent();
      await more.click();
      await expect.poll(() => status.textContent()).not.toMatch(/^Loading/);
      await expect.poll(() => status.textContent()).not.toBe(before);
    }
    expect(await status.textContent()).toBe("400 entities, 488 relations; 12 drawn.");
    expect(await entries.count()).toBe(400);
    await view.getByRole("button", { name: "Lisbon, city" }).click();
    await view.getByRole("heading", { name: "Lisbon city" }).waitFor();
    await view.getByText("has an office since 2009").waitFor();
    expect(await view.getByRole("button", { name: /^is based in ← Lisbon/ }).count()).toBe(5);
    await page.setViewportSize({ width: 1_200, height: 900 });
    await view.getByRole("button", { name: "Full screen" }).click();
    await view.getByRole("button", { name: "Exit full screen" }).waitFor();
    const height = await view.locator(".canvas").evaluate((canvas) => canvas.clientHeight);
    expect(height).toBeGreaterThan(600);
    await page.close();
  });
});
