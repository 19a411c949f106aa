import { describe, expect, it } from "vitest";
import { addObservations } from "../../src/graph/change/create.ts";
import { openNodes, readGraph } from "../../src/graph/read/read.ts";
import { findRelated, type RelatedQuery } from "../../src/graph/read/related.ts";
import { changesAfter, GraphWatch, type Touched } from "../../src/graph/thread/watch.ts";
import type { Entity } from "../../src/graph/types.ts";
import { budget, create, entity, forget, type Given, relate, relation } from "./help.ts";

const many = (count: number): Entity[] =>
  Array.from({ length: count }, (_, index) =>
    entity(`n${index}`, "number", [`is ${index}`, `comes after ${index - 1}`]),
  );

/** A time to the minute. */
const minute = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/);

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
        entities: [{ ...entity("A", "t", ["one"]), learned: [minute] }, entity("B")],
        relations: [relation("A", "knows", "B")],
      });
      const facts = { action: "add_observations", source: "Bo" };
      await addObservations(given.store, [{ entityName: "A", contents: ["two"] }], facts);
      expect((await open(["A"])).entities[0]).toMatchObject({
        observations: ["one", "two"],
        learned: [minute, expect.stringMatching(/Z, Bo$/)],
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

    it.each(["concise", "full"] as const)(
      "lists the best connected first, %s, each relation once, with or after both its ends",
      async (detail) => {
        const entities = many(300);
        await create(given.store, entities);
        // n299 has the most relations, and every third entity has none.
        const wanted = entities.flatMap(({ name }, index) =>
          index % 3 === 0 || index < 3
            ? []
            : [
                relation(name, "knows", "n299"),
                relation(name, "follows", `n${index - (index % 3) - 2}`),
              ],
        );
        await relate(given.store, wanted);
        const degree = new Map(entities.map(({ name }) => [name, 0]));
        for (const one of wanted)
          for (const name of [one.from, one.to]) degree.set(name, (degree.get(name) ?? 0) + 1);
        const sorted = entities
          .map(({ name }) => name)
          .sort((one, other) => (degree.get(other) ?? 0) - (degree.get(one) ?? 0));
        const seen: string[] = [];
        const relations: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await readGraph(given.store, {
            detail,
            order: "connected",
            limit: 70,
            cursor,
            budget,
          });
          expect(JSON.stringify(page).length).toBeLessThanOrEqual(budget);
          expect(page.entities.length).toBeLessThanOrEqual(70);
          for (const { name } of page.entities) if (seen.at(-1) !== name) seen.push(name);
          for (const { from, to } of page.relations)
            expect(seen).toEqual(expect.arrayContaining([from, to]));
          relations.push(...page.relations.map((one) => JSON.stringify(one)));
          if (cursor === undefined) expect(page.relations.length).toBeGreaterThan(60);
          if (page.next_cursor !== undefined) expect(page.note).toContain("best connected first");
          cursor = page.next_cursor;
        } while (cursor !== undefined);
        expect(seen).toEqual(sorted);
        expect(relations.toSorted()).toEqual(wanted.map((one) => JSON.stringify(one)).toSorted());
        await expect(
          readGraph(given.store, {
            detail,
            limit: 70,
            budget,
            cursor: (
              await readGraph(given.store, { detail, order: "connected", limit: 70, budget })
            ).next_cursor,
          }),
        ).rejects.toMatchObject({ kind: "invalid" });
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
        entities: [{ ...entity("Ada", "t", ["one"]), learned: [minute] }],
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
      expect(names).toEqual(["hub", ...many(500).map(({ name }) => name)]);
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

  describe("walking", () => {
    const related = (query: Partial<RelatedQuery> & { name: string }) =>
      findRelated(given.store, {
        to: undefined,
        depth: 2,
        direction: "both",
        types: undefined,
        limit: 50,
        budget,
        ...query,
      });

    it("finds neighbors by distance, direction and type", async () => {
      await create(
        given.store,
        ["A", "B", "C", "D", "E"].map((name) => entity(name)),
      );
      await relate(given.store, [
        relation("A", "knows", "B"),
        relation("B", "knows", "C"),
        relation("D", "likes", "A"),
        relation("C", "knows", "E"),
      ]);
      const names = async (query: Partial<RelatedQuery> = {}) =>
        (await related({ name: "A", ...query })).entities.map(
          ({ name, distance }) => `${name}${distance}`,
        );
      expect(await names()).toEqual(["A0", "B1", "D1", "C2"]);
      expect(await names({ direction: "out" })).toEqual(["A0", "B1", "C2"]);
      expect(await names({ direction: "in" })).toEqual(["A0", "D1"]);
      expect(await names({ types: ["likes"] })).toEqual(["A0", "D1"]);
      expect(await names({ depth: 1 })).toEqual(["A0", "B1", "D1"]);
      const cut = await related({ name: "A", limit: 1 });
      expect(cut.entities).toHaveLength(2);
      expect(cut.note).toMatch(/2 further entities.*raise limit/);
      expect(cut.relations).toEqual([relation("A", "knows", "B")]);
    });

    it("finds the shortest path, or reports that there is none", async () => {
      await create(
        given.store,
        ["A", "B", "C", "D", "X"].map((name) => entity(name)),
      );
      await relate(given.store, [
        relation("A", "r", "B"),
        relation("B", "r", "C"),
        relation("C", "r", "D"),
        relation("D", "back", "A"),
      ]);
      expect((await related({ name: "A", to: "D", depth: 6 })).path).toEqual(["A", "D"]);
      const out = await related({ name: "A", to: "D", depth: 6, direction: "out" });
      expect(out.path).toEqual(["A", "B", "C", "D"]);
      expect(out.relations.map(({ from }) => from)).toEqual(["A", "B", "C"]);
      expect(await related({ name: "A", to: "X" })).toMatchObject({
        entities: [],
        note: expect.stringMatching(/no path within 2 steps/),
      });
      await expect(related({ name: "A", to: "Y" })).rejects.toMatchObject({
        kind: "not_found",
        message: expect.stringMatching(/"Y"/),
      });
    });
  });

  it("notifies listeners of changes by another connection, only while they listen", async () => {
    const other = await given.again();
    await create(given.store, [entity("before")]);
    const watch = new GraphWatch((seen) => changesAfter(given.store, seen));
    const notified: Touched[] = [];
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
