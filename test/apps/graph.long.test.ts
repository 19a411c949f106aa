import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, useWorld } from "../servers.ts";
import { researchMemory } from "./data/memory.ts";
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
    const shown = await shownFor("open_nodes", { names: ["Ada"], depth: 1 });
    await shown.view.getByRole("button", { name: /^Analytical Engine/ }).waitFor();
    await shown.page.close();
    const failed = await shownFor("open_nodes", { names: ["Nobody"] });
    await failed.view.getByRole("alert").filter({ hasText: "Nobody" }).waitFor();
    await failed.page.close();
  });
});

/** The names of the oldest entities, and how many relations there are among them. */
function oldest(count: number) {
  const { entities, relations } = researchMemory();
  const names = entities.slice(0, count).map(({ name }) => name);
  const all = new Set(names);
  return { names, among: relations.filter(({ from, to }) => all.has(from) && all.has(to)).length };
}

describe("the graph of 400 entities", () => {
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

  const shownFor = async () => {
    const call = { name: "read_graph", arguments: {} };
    const shown = await show(client, call, await client.callTool(call));
    await shown.view.getByRole("status").filter({ hasText: "of 400 entities" }).waitFor();
    return shown;
  };
  const names = ({ view }: ShownView) =>
    view
      .locator(".node")
      .evaluateAll((nodes) =>
        nodes.map((node) => node.getAttribute("aria-label")?.split(", ").slice(0, -2).join(", ")),
      );
  const TOTAL = researchMemory().relations.length;

  it("draws the oldest with their relations, and loads more from the server", async () => {
    const shown = await shownFor();
    const { view, asked } = shown;
    const status = view.getByRole("status");
    const drawn = await names(shown);
    const first = oldest(drawn.length);
    expect(drawn.length).toBeGreaterThan(50);
    expect(await status.textContent()).toBe(
      `${drawn.length} of 400 entities, ${first.among} of ${TOTAL} relations.`,
    );
    expect(drawn.toSorted()).toEqual(first.names.toSorted());
    expect(await view.locator("svg > line").count()).toBe(first.among);
    expect(asked).toEqual([]);
    await expectReadableNames(shown);

    const more = view.getByRole("button", { name: "Load more" });
    for (let before = drawn.length * TOTAL; await more.isVisible(); ) {
      await more.click();
      const counts = async () =>
        ((await status.textContent())?.match(/\d+/g) ?? [])
          .map(Number)
          .filter((count) => count > 0);
      // An answer may end within the relations of the last entities.
      const loaded = async () => {
        const [entities = 0, , relations = 0] = await counts();
        return entities * TOTAL + relations;
      };
      await expect
        .poll(async () => ((await more.isVisible()) ? loaded() : Infinity))
        .toBeGreaterThan(before);
      before = await loaded();
      const all = await names(shown);
      expect(all.toSorted()).toEqual(oldest(all.length).names.toSorted());
    }
    expect(await status.textContent()).toBe(`400 entities, ${TOTAL} relations.`);
    expect(await more.isVisible()).toBe(false);
    expect(await view.locator("svg > line").count()).toBe(TOTAL);
    await expectReadableNames(shown);
    await shown.page.close();
  });

  it("shows a name once, and relation types only of the entity that is pointed at", async () => {
    const shown = await shownFor();
    const { view, page } = shown;
    const visible = (kind: string) => view.locator(`svg > .${kind}:not([hidden])`);
    expect(await visible("edge").count()).toBe(0);
    const covered = view
      .locator(".node")
      .nth(
        await view
          .locator("svg > .name")
          .evaluateAll((texts) => texts.findIndex((text) => text.hasAttribute("hidden"))),
      );
    const label = (await covered.getAttribute("aria-label")) ?? "";
    const [name = ""] = label.split(", ");
    expect(await visible("name").getByText(name, { exact: true }).count()).toBe(0);
    await covered.focus();
    expect(await visible("name").getByText(name, { exact: true }).count()).toBe(1);
    const lisbon = view.getByRole("button", { name: /^Lisbon, city/ });
    await lisbon.hover();
    const types = await visible("edge").allTextContents();
    expect(types.length).toBeGreaterThan(0);
    expect(types.filter((type) => !["lives in", "is based in"].includes(type))).toEqual([]);
    const count = Number(
      /(\d+) relations/.exec((await lisbon.getAttribute("aria-label")) ?? "")?.[1],
    );
    expect(await view.locator("line.lit").count()).toBe(count);
    await lisbon.click();
    await view.getByRole("heading", { name: "Lisbon city" }).waitFor();
    expect(await view.locator("svg text").getByText("Lisbon", { exact: true }).count()).toBe(1);
    expect(await visible("name").getByText("Lisbon", { exact: true }).count()).toBe(1);
    await expectReadableNames(shown);
    await page.close();
  });

  it("zooms, is dragged and fitted, with keys and the pointer, and fills the window", async () => {
    const shown = await shownFor();
    const { view, page, asked } = shown;
    const at = async (name: RegExp) => {
      const { x, y, width, height } = await view
        .getByRole("button", { name })
        .locator("circle")
        .evaluate((circle) => circle.getBoundingClientRect().toJSON());
      return { x: x + width / 2, y: y + height / 2 };
    };
    const spread = async () => {
      const [one, other] = [await at(/^Lisbon, city/), await at(/^Oslo, city/)];
      return Math.hypot(one.x - other.x, one.y - other.y);
    };
    const fitted = await spread();
    await view.getByRole("button", { name: "Zoom in" }).click();
    expect(await spread()).toBeCloseTo(fitted * 1.5, 0);
    await view.getByRole("button", { name: /^Lisbon, city/ }).focus();
    await page.keyboard.press("0");
    expect(await spread()).toBeCloseTo(fitted, 0);
    await page.keyboard.press("+");
    await page.keyboard.press("-");
    expect(await spread()).toBeCloseTo(fitted, 0);
    await page.keyboard.press("ArrowLeft");
    const focused = view.locator(".node:focus");
    expect(await focused.getAttribute("aria-label")).not.toMatch(/^Lisbon/);
    const lisbon = await at(/^Lisbon, city/);
    const next = await focused
      .locator("circle")
      .evaluate((circle) => circle.getBoundingClientRect().x);
    expect(next).toBeLessThan(lisbon.x);

    const frame = (await page.locator("iframe").boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.move(frame.x + lisbon.x, frame.y + lisbon.y);
    await page.mouse.down();
    await page.mouse.move(frame.x + lisbon.x + 40, frame.y + lisbon.y + 25, { steps: 4 });
    await page.mouse.up();
    const moved = await at(/^Lisbon, city/);
    expect(moved.x - lisbon.x).toBeCloseTo(40, 0);
    expect(moved.y - lisbon.y).toBeCloseTo(25, 0);
    // That was a drag, not a click.
    expect(asked).toEqual([]);

    await page.setViewportSize({ width: 1_200, height: 900 });
    await view.getByRole("button", { name: "Full screen" }).click();
    await view.getByRole("button", { name: "Exit full screen" }).waitFor();
    expect(await view.locator("svg").evaluate((drawing) => drawing.clientHeight)).toBeGreaterThan(
      700,
    );
    await view.getByRole("button", { name: "Exit full screen" }).click();
    await view.getByRole("button", { name: "Full screen", exact: true }).waitFor();
    expect(asked.map(({ method }) => method)).toEqual([
      "ui/request-display-mode",
      "ui/request-display-mode",
    ]);
    await page.close();
  });

  it("keeps entities without relations in a corner", async () => {
    const shown = await shownFor();
    const places = await shown.view.locator(".node").evaluateAll((nodes) =>
      nodes.map((node) => {
        const { x, y } = node.querySelector("circle")?.getBoundingClientRect() ?? { x: 0, y: 0 };
        return { x, y, isAlone: node.getAttribute("aria-label")?.endsWith(", 0 relations") };
      }),
    );
    const alone = places.filter(({ isAlone }) => isAlone);
    const related = places.filter(({ isAlone }) => !isAlone);
    expect(alone.length).toBeGreaterThan(0);
    expect(Math.min(...alone.map(({ y }) => y))).toBeGreaterThan(
      Math.max(...related.map(({ y }) => y)),
    );
    const xs = places.map(({ x }) => x);
    expect(Math.max(...alone.map(({ x }) => x))).toBeLessThan(
      (Math.min(...xs) + Math.max(...xs)) / 2,
    );
    await shown.page.close();
  });
});

/** Checks that many nodes have names, and that none covers another. */
async function expectReadableNames({ view }: ShownView): Promise<void> {
  const boxes = await view.locator("svg > .name:not([hidden])").evaluateAll((texts) =>
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
