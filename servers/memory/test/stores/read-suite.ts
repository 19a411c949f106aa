import { describe, expect, it } from "vitest";
import { GraphWatch } from "../../src/graph/journal/watch.ts";
import { readGraph } from "../../src/graph/read/graph.ts";
import { openNodes } from "../../src/graph/read/nodes.ts";
import type { Entity } from "../../src/graph/types.ts";
import { addObservations } from "../../src/graph/write/observations.ts";
import { budget, create, entity, forget, type Given, relate, relation } from "./help.ts";

const many = (count: number): Entity[] =>
  Array.from({ length: count }, (_, index) =>
    entity(`n${index}`, "number", [`is ${index}`, `comes after ${index - 1}`]),
  );

const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);

export function readSuite(given: Given): void {
  const read = (cursor?: string, detail: "concise" | "full" = "concise", limit = 500) =>
    readGraph(given.store, { detail, limit, cursor, budget });
  const open = (names: string[], depth = 0, cursor?: string) =>
    openNodes(given.store, { names, depth, cursor, budget });

  describe("reading", () => {
    it("returns a small graph like the official server, and when each fact was learned", async () => {
      expect(await read()).toEqual({ entities: [], relations: [] });
      await create(given.store, [entity("A", "t", ["one"]), entity("B")]);
      await relate(given.store, [relation("A", "knows", "B")]);
      expect(await read()).toEqual({
        entities: [{ ...entity("A", "t", ["one"]), learned: [day] }, entity("B")],
        relations: [relation("A", "knows", "B")],
      });
      const facts = { action: "add_observations", source: "Bo" };
      await addObservations(given.store, [{ entityName: "A", contents: ["two"] }], facts);
      expect((await open(["A"])).entities[0]).toMatchObject({
        observations: ["one", "two"],
        learned: [day, expect.stringMatching(/^\d{4}-\d\d-\d\d, Bo$/)],
      });
    });

    it.each(["concise", "full"] as const)(
      "pages through a large graph, %s, each thing once",
      async (detail) => {
        const entities = many(700);
        await create(given.store, entities);
        await relate(
          given.store,
          entities.slice(1).map(({ name }, index) => relation(name, "follows", `n${index}`)),
        );
        const seen: string[] = [];
        const facts: string[] = [];
        const relations: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await read(cursor, detail);
          expect(page.entities.length > 20 ? page.relations.length : 20).toBeGreaterThan(
            page.entities.length / 2,
          );
          expect(JSON.stringify(page).length).toBeLessThanOrEqual(budget);
          expect(page.total).toEqual({ entities: 700, observations: 1400, relations: 699 });
          for (const { name, observations } of page.entities) {
            if (seen.at(-1) !== name) seen.push(name);
            facts.push(...(observations ?? []));
          }
          relations.push(...page.relations.map(({ from }) => from));
          for (const { from, to } of page.relations)
            expect(seen).toEqual(expect.arrayContaining([from, to]));
          if (page.next_cursor !== undefined) expect(page.note).toMatch(/of 700|of 699/);
          cursor = page.next_cursor;
        } while (cursor !== undefined);
        expect(seen).toEqual(entities.map(({ name }) => name));
        expect(facts).toEqual(
          detail === "full" ? entities.flatMap(({ observations }) => observations) : [],
        );
        expect(relations).toEqual(entities.slice(1).map(({ name }) => name));
      },
    );

    it.each(["concise", "full"] as const)(
      "pages through entities with many relations and facts, %s, each relation once, after its ends",
      async (detail) => {
        const facts = Array.from(
          { length: 400 },
          (_, index) => `fact number ${index} of many about it`,
        );
        const entities = [...many(120), entity("hub", "t", facts), ...many(240).slice(120)];
        await create(given.store, entities);
        const wanted = entities.flatMap(({ name }) => [
          relation(name, "knows", "hub"),
          relation("hub", "owns a very long list of things among which is", name),
          relation("n7", "saw", name),
        ]);
        await relate(given.store, wanted);
        const [names, told, relations]: [Set<string>, string[], string[]] = [new Set(), [], []];
        let cursor: string | undefined;
        do {
          const page = await read(cursor, detail, 90);
          expect(JSON.stringify(page).length).toBeLessThanOrEqual(budget);
          for (const { name, observations = [] } of page.entities) {
            names.add(name);
            if (name === "hub") told.push(...observations);
          }
          for (const { from, to } of page.relations)
            expect(names.has(from) && names.has(to)).toBe(true);
          relations.push(...page.relations.map((one) => JSON.stringify(one)));
          cursor = page.next_cursor;
        } while (cursor !== undefined);
        expect([...names]).toEqual(entities.map(({ name }) => name));
        expect(told).toEqual(detail === "full" ? facts : []);
        expect(relations.toSorted()).toEqual(wanted.map((one) => JSON.stringify(one)).toSorted());
      },
    );

    it("refuses a cursor from another call", async () => {
      await create(given.store, many(700));
      const { next_cursor } = await read();
      await expect(read(next_cursor, "full")).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(/a different call/),
      });
      await expect(open(["n1"], 0, next_cursor)).rejects.toMatchObject({ kind: "invalid" });
      await expect(read("nonsense")).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(/damaged/),
      });
    });

    it("opens entities in full, and reports missing names", async () => {
      await create(given.store, [entity("Ada", "t", ["one"]), entity("B"), entity("C")]);
      await relate(given.store, [relation("Ada", "knows", "B"), relation("B", "knows", "C")]);
      expect(await open(["Ada", "Adda", "Ada"])).toEqual({
        entities: [{ ...entity("Ada", "t", ["one"]), learned: [day] }],
        relations: [relation("Ada", "knows", "B")],
        not_found: ["Adda"],
        note: 'Not found: "Adda". Did you mean "Ada"? Names are exact; search_nodes finds them.',
      });
      await expect(open(["Nobody"])).rejects.toMatchObject({ kind: "not_found" });
      const near = await open(["Ada"], 1);
      expect(near.entities.map(({ name }) => name)).toEqual(["Ada", "B"]);
      expect(near.relations).toHaveLength(2);
    });

    it("includes the 500 nearest entities around one, and reports that there are more", async () => {
      await create(given.store, [entity("hub"), ...many(510), entity("far")]);
      await relate(given.store, [
        relation("n0", "has", "far"),
        ...many(510).map(({ name }) => relation("hub", "has", name)),
      ]);
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await open(["hub"], 2, cursor);
        expect(page.note).toBe("Only the nearest 500 entities around them are included.");
        names.push(...page.entities.map(({ name }) => name));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      // The facts of an entity can be on two pages.
      expect([...new Set(names)]).toEqual(["hub", ...many(500).map(({ name }) => name)]);
    });

    it("pages through one entity with thousands of observations and relations", async () => {
      const facts = Array.from(
        { length: 3000 },
        (_, index) => `fact number ${index} about the hub`,
      );
      await create(given.store, [entity("hub", "t", facts), ...many(300)]);
      await relate(
        given.store,
        many(300).map(({ name }) => relation("hub", "has", name)),
      );
      const seen: string[] = [];
      const relations: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await open(["hub"], 0, cursor);
        expect(JSON.stringify(page).length).toBeLessThanOrEqual(budget);
        for (const { observations, observation_count } of page.entities) {
          seen.push(...(observations ?? []));
          expect(observation_count).toBe(3000);
        }
        relations.push(...page.relations.map(({ to }) => to));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(facts);
      expect(relations).toEqual(many(300).map(({ name }) => name));
    });

    it("truncates an observation that is longer than a response, and reports it", async () => {
      await create(given.store, [entity("A", "t", ["x".repeat(50_000), "short"])]);
      const { entities } = await open(["A"]);
      expect(entities[0]?.clipped).toBe(1);
      expect(entities[0]?.observations?.[0]?.length).toBeLessThan(13_000);
      expect(entities[0]?.observations?.[1]).toBe("short");
    });
  });

  it("notifies listeners of changes by another connection, only while they listen", async () => {
    const other = await given.again();
    await create(given.store, [entity("before")]);
    const watch = new GraphWatch(given.store);
    const notified: unknown[] = [];
    const stop = await watch.listen((touched) => notified.push(touched));
    await create(other, [entity("A"), entity("B")]);
    await expect.poll(() => notified.length).toBe(1);
    expect(notified[0]).toEqual(new Set(["A", "B"]));
    await create(given.store, [entity("C")]);
    await expect.poll(() => notified.length).toBe(2);
    let notifiedOn = 0;
    const stopPrevious = await watch.listen(() => {
      notifiedOn += 1;
    });
    stop();
    await forget(other, ["A"]);
    await expect.poll(() => notifiedOn).toBe(1);
    stopPrevious();
    expect(notified).toHaveLength(2);
  });
}
