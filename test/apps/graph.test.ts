import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, useWorld } from "../servers.ts";
import { connectApps, expectHarmless, HOSTILE, type ShownView, useViews } from "./host.ts";

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

  it("shows related entities, and the text of an error", async () => {
    const shown = await shownFor("find_related", { name: "Ada" });
    await shown.view.getByRole("button", { name: /^Analytical Engine/ }).waitFor();
    await shown.page.close();
    const failed = await shownFor("find_related", { name: "Nobody" });
    await failed.view.getByRole("alert").filter({ hasText: "Nobody" }).waitFor();
    await failed.page.close();
  });
});

/** A team of 400 people, projects and places, with 440 relations. */
function team() {
  const first = ["Ada", "Boris", "Chloe", "Dmitri", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas"];
  const last = ["Novak", "Silva", "Tanaka", "Okafor", "Larsen", "Moreau", "Haddad", "Kowalska"];
  const people = Array.from({ length: 320 }, (_, index) => ({
    name: `${first[index % 10]} ${last[Math.floor(index / 10) % 8]} ${Math.floor(index / 80) + 1}`,
    entityType: "person",
    observations: [`joined in ${2000 + (index % 25)}`, `sits in room ${index}`],
  }));
  const projects = Array.from({ length: 60 }, (_, index) => ({
    name: `Project ${["Heron", "Juniper", "Basalt", "Comet"][index % 4]} ${index}`,
    entityType: "project",
    observations: [`began in ${2010 + (index % 15)}`],
  }));
  const places = ["Oslo", "Porto", "Kyoto", "Quito", "Accra"].flatMap((city) =>
    [1, 2, 3, 4].map((floor) => ({ name: `${city}, floor ${floor}`, entityType: "place", observations: [] })),
  );
  const entities = [...people, ...projects, ...places].map((_, index, all) => {
    // As a memory grows: people, projects and places between each other.
    const at = (index * 147) % all.length;
    return all[at] ?? all[0];
  });
  const relations = [
    ...people.slice(0, 300).map(({ name }, index) => ({
      from: name,
      relationType: "works on",
      to: projects[(index * index) % 60]?.name,
    })),
    ...people.slice(0, 140).map(({ name }, index) => ({
      from: name,
      relationType: "sits in",
      to: places[index % 20]?.name,
    })),
  ];
  return { entities, relations };
}

describe("the graph of 400 entities", () => {
  const show = useViews();
  let folder = "";
  let client: Client;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "refmcp-apps-graph-"));
    client = await connectApps(serverBin("memory"), ["--file", join(folder, "memory.db")]);
    const { entities, relations } = team();
    await client.callTool({ name: "create_entities", arguments: { entities } });
    await client.callTool({ name: "create_relations", arguments: { relations } });
  });
  afterAll(async () => {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("draws the best connected with their relations and names, and says what is loaded", async () => {
    const call = { name: "read_graph", arguments: {} };
    const shown = await show(client, call, await client.callTool(call));
    const status = shown.view.getByRole("status");
    const summary = async () =>
      /^(\d+)(?: of 400)? entities, (\d+)(?: of 440)? relations; the 100 entities with the most of these relations are drawn\.$/
        .exec((await status.textContent()) ?? "")
        ?.slice(1)
        .map(Number) ?? [];
    await expect.poll(summary).toHaveLength(2);
    const [entities = 0, relations = 0] = await summary();
    expect(entities).toBeGreaterThan(100);
    expect(entities).toBeLessThan(400);
    expect(relations).toBeGreaterThan(30);
    expect(await shown.view.locator(".node").count()).toBe(100);
    expect(await shown.view.locator("svg > line").count()).toBeGreaterThan(30);
    await expectReadableNames(shown);

    const more = shown.view.getByRole("button", { name: "Load more" });
    for (let loaded = entities; loaded < 400; [loaded = 0] = await summary()) {
      await more.click();
      await expect.poll(async () => (await summary())[0]).toBeGreaterThan(loaded);
    }
    await expect.poll(summary).toEqual([400, 440]);
    expect(await more.isVisible()).toBe(false);
    expect(await shown.view.locator("svg > line").count()).toBeGreaterThan(90);
    await expectReadableNames(shown);
    // The hubs come first.
    const names = await shown.view.locator("svg > .name").allTextContents();
    expect(names.filter((name) => /^Project|floor/.test(name)).length).toBeGreaterThan(20);
    // A name without space is shown when its node has the focus.
    const covered = shown.view.locator(".node:has(.name)").first();
    expect(await covered.locator("text").isVisible()).toBe(false);
    await covered.focus();
    expect(await covered.locator("text").isVisible()).toBe(true);
    await shown.page.close();
  });
});

/** Checks that many nodes have names, and that none covers another. */
async function expectReadableNames({ view }: ShownView): Promise<void> {
  const boxes = await view.locator("svg > .name").evaluateAll((texts) =>
    texts.map((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      return { name: text.textContent, left, right, top, bottom };
    }),
  );
  expect(boxes.length).toBeGreaterThan(25);
  for (const [index, one] of boxes.entries())
    for (const other of boxes.slice(index + 1)) {
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      // The stroke around a text may touch the next one.
      expect(width > 6 && height > 6, `${one.name} covers ${other.name}`).toBe(false);
    }
}
