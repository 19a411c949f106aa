import { describe, expect, it } from "vitest";
import { readGraph } from "../../src/graph/read/graph.ts";
import { openNodes } from "../../src/graph/read/nodes.ts";
import type { Entity } from "../../src/graph/types.ts";
import { addObservations } from "../../src/graph/write/observations.ts";
import { budget, create, entity, type Fixture, relate, relation } from "./help.ts";

const many = (count: number): Entity[] =>
  Array.from({ length: count }, (_, index) =>
    entity(`n${index}`, "number", [`is ${index}`, `comes after ${index - 1}`]),
  );

const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);

export function readSuite(fixture: Fixture): void {
  const read = (cursor?: string, limit = 500) =>
    readGraph(fixture.store, { limit, cursor, budget });
  const open = (names: string[], depth = 0, cursor?: string) =>
    openNodes(fixture.store, { names, depth, cursor, budget });

  describe("reading", () => {
    it("returns a small graph like the official server, and when each fact was learned", async () => {
      expect(await read()).toEqual({ entities: [], relations: [] });
      await create(fixture.store, [entity("A", "t", ["one"]), entity("B")]);
      await relate(fixture.store, [relation("A", "knows", "B")]);
      expect(await read()).toEqual({
        entities: [{ ...entity("A", "t", ["one"]), learned: [day] }, entity("B")],
        relations: [relation("A", "knows", "B")],
      });
      const facts = { action: "add_observations", source: "Bo" };
      await addObservations(fixture.store, [{ entityName: "A", contents: ["two"] }], facts);
      expect((await open(["A"])).entities[0]).toMatchObject({
        observations: ["one", "two"],
        learned: [day, expect.stringMatching(/^\d{4}-\d\d-\d\d, Bo$/)],
      });
    });

    it("pages through a large graph: names and counts by age with their relations, each once", async () => {
      const entities = many(700);
      await create(fixture.store, entities);
      const wanted = entities.flatMap(({ name }) => [
        relation(name, "follows", "n7"),
        relation("n7", "saw", name),
      ]);
      await relate(fixture.store, wanted);
      const [names, relations]: string[][] = [[], []];
      let cursor: string | undefined;
      do {
        const page = await read(cursor, 90);
        expect(JSON.stringify(page).length).toBeLessThanOrEqual(budget);
        expect(page.total).toEqual({ entities: 700, observations: 1400, relations: 1400 });
        for (const { name, observations, observation_count } of page.entities) {
          names?.push(name);
          expect([observations, observation_count]).toEqual([undefined, 2]);
        }
        relations?.push(...page.relations.map((item) => JSON.stringify(item)));
        for (const { from, to } of page.relations)
          expect(names).toEqual(expect.arrayContaining([from, to]));
        if (page.next_cursor !== undefined) expect(page.note).toMatch(/of 700|of 1,400/);
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(names).toEqual(entities.map(({ name }) => name));
      expect(relations?.toSorted()).toEqual(wanted.map((item) => JSON.stringify(item)).toSorted());
    });

    it("refuses a cursor from another call", async () => {
      await create(fixture.store, many(700));
      const { next_cursor } = await read();
      await expect(open(["n1"], 0, next_cursor)).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(/a different call/),
      });
      await expect(read("nonsense")).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(/damaged/),
      });
    });

    it("opens entities in full, and reports missing names", async () => {
      await create(fixture.store, [entity("Ada", "t", ["one"]), entity("B"), entity("C")]);
      await relate(fixture.store, [relation("Ada", "knows", "B"), relation("B", "knows", "C")]);
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
      await create(fixture.store, [entity("hub"), ...many(510), entity("far")]);
      await relate(fixture.store, [
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
      await create(fixture.store, [entity("hub", "t", facts), ...many(300)]);
      await relate(
        fixture.store,
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
  });
}
