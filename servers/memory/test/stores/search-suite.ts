import { describe, expect, it } from "vitest";
import { undoChange } from "../../src/graph/journal/undo.ts";
import { type SearchQuery, searchNodes } from "../../src/graph/search/search.ts";
import { addObservations } from "../../src/graph/write/observations.ts";
import { updateEntities } from "../../src/graph/write/update.ts";
import { budget, create, entity, type Fixture, forget } from "./help.ts";

export function searchSuite(fixture: Fixture, isWhole: boolean, isLong: boolean): void {
  const itLong = (name: string, test: () => Promise<void>): void => {
    if (isLong) it(name, test);
  };
  const ifWhole = (name: string, test: () => Promise<void>): void => {
    if (isWhole) it(name, test);
  };
  const page = (query: string, more: Partial<SearchQuery> = {}) =>
    searchNodes(fixture.store, { query, limit: 20, budget, ...more });
  const search = async (query: string, more: Partial<SearchQuery> = {}) =>
    (await page(query, more)).entities.map(({ name }) => name);
  const allPages = async (query: string, limit: number) => {
    const pages = [await page(query, { limit })];
    for (let next = pages[0]?.next_cursor; next !== undefined; next = pages.at(-1)?.next_cursor)
      pages.push(await page(query, { limit, cursor: next }));
    return { pages, names: pages.flatMap(({ entities }) => entities.map(({ name }) => name)) };
  };

  describe("searching", () => {
    it("finds words, prefixes, parts of words, several words, ignoring case and accents", async () => {
      await create(fixture.store, [
        entity("Café Central", "place", ["opened in Straßburg", "serves Kaiserschmarrn"]),
        entity("Zoë", "person", ["drinks coffee in the café", "naïve"]),
        entity("node.js", "runtime", ["JavaScript on the server"]),
        entity("東京タワー", "place", ["高さ333メートル"]),
      ]);
      expect(await search("cafe")).toEqual(["Café Central", "Zoë"]);
      expect((await search("CAFÉ cent"))[0]).toBe("Café Central");
      expect(await search("zoe coffee")).toEqual(["Zoë"]);
      expect(await search("schmarr")).toEqual(["Café Central"]);
      expect(await search("strassburg")).toEqual(["Café Central"]);
      // The other place has a word of the query in its type.
      expect((await search("place kaiser"))[0]).toBe("Café Central");
      expect(await search("node.js")).toEqual(["node.js"]);
      expect(await search("js")).toEqual(["node.js"]);
      expect(await search("タワー")).toEqual(["東京タワー"]);
      expect(await search("京")).toEqual(["東京タワー"]);
      expect(await search("33")).toEqual(["東京タワー"]);
      expect(await search("nothing like it")).toEqual([]);
    });

    it("finds words with a typo anywhere, even in the first letter", async () => {
      await create(fixture.store, [
        entity("Ada", "person", ["visits the dentist", "слышит музыку"]),
        entity("B"),
      ]);
      const typos = ["dentits", "dentsit", "dnetist", "dentixt", "denttist", "denist"];
      // PostgreSQL compares only words with the same first letter.
      if (fixture.store.kind === "sqlite")
        typos.push("edntist", "xentist", "entist", "adentist", "музыху", "нузыку");
      for (const query of typos)
        expect((await page(query)).entities.map(({ name }) => [query, name])).toEqual([
          [query, "Ada"],
        ]);
    });

    ifWhole("ranks an exact name first, then names, types, observations", async () => {
      await create(fixture.store, [
        entity("in facts", "t", ["he saw a comet over the lake that night"]),
        entity("in type", "comet"),
        entity("Comet Halley", "t"),
        entity("Comet", "t"),
        entity("cometary matters inside", "t", ["x"]),
      ]);
      expect((await search("comet"))[0]).toBe("Comet");
      const order = await search("comet");
      expect(order.indexOf("Comet Halley")).toBeLessThan(order.indexOf("in type"));
      expect(order.indexOf("in type")).toBeLessThan(order.indexOf("in facts"));
      expect(order).toHaveLength(4);
      // Only a beginning, and only where no text has the word itself.
      expect(await search("cometar")).toEqual(["cometary matters inside"]);
    });

    it("treats every query as text, never as an operator", async () => {
      await create(fixture.store, [
        entity('say "hi"', "t", ["a AND b", "100% sure_thing \\ done", "x*y (z)"]),
        entity("other"),
      ]);
      for (const query of ['"hi"', "a AND b", "100%", "sure_thing", "x*y", "(z)", 'say "hi', "b*"])
        expect(await search(query).then((names) => [query, names[0]])).toEqual([query, 'say "hi"']);
      for (const query of [
        "NEAR(a b)",
        "name:say",
        "^say",
        "- -",
        "{x}",
        "' OR 1=1 --",
        "_",
        "a' & !b | <->",
        "\0",
      ])
        await expect(page(query)).resolves.toBeDefined();
      expect(await search("%")).toEqual([]);
      expect(await search("_thing")).toEqual(['say "hi"']);
    });

    ifWhole("filters by type and time, and lists the newest for an empty query", async () => {
      await create(fixture.store, [
        entity("A", "person", ["blue"]),
        entity("B", "place", ["blue"]),
      ]);
      await new Promise((resolve) => setTimeout(resolve, 15));
      const after = Date.now();
      await addObservations(fixture.store, [{ entityName: "A", contents: ["more"] }], {
        action: "add_observations",
      });
      expect(await search("blue", { types: ["place"] })).toEqual(["B"]);
      expect(await search("blue", { since: after })).toEqual(["A"]);
      expect(await search("blue", { until: after - 1 })).toEqual(["B"]);
      expect(await search("")).toEqual(["A", "B"]);
      expect(await search(" ", { types: ["place"] })).toEqual(["B"]);
    });

    ifWhole("pages, each match once, and refuses a cursor from another query", async () => {
      const entities = Array.from({ length: 45 }, (_, index) =>
        entity(`item ${index}`, "t", [index % 2 === 0 ? "even" : "uneven"]),
      );
      await create(fixture.store, entities);
      // All match alike, so the newest come first.
      const { names } = await allPages("item", 10);
      expect(names).toEqual(entities.map(({ name }) => name).reverse());
      // Whole words come before parts of words.
      expect((await search("even item")).every((name) => Number(name.slice(5)) % 2 === 0)).toBe(
        true,
      );
      const { next_cursor } = await page("item", { limit: 10 });
      const other = page("other", { cursor: next_cursor });
      await expect(other).rejects.toMatchObject({ kind: "invalid" });
      const tooMany = page("w ".repeat(40).replaceAll("w", () => `w${Math.random()}`));
      await expect(tooMany).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(/at most 32/),
      });
    });

    ifWhole("pages through every match, for any facts and limit", async () => {
      for (const limit of [2, 3, 5, 8, 20]) {
        const word = `tea${"abcdefghijklmnopqrst"[limit - 1]}`;
        const entities = Array.from({ length: 24 }, (_, index) => {
          const facts = Array.from({ length: Math.floor(Math.random() * 5) }, (_, at) =>
            `${at} ${word} `.padEnd(10 + Math.random() * 250, "far away "),
          );
          return entity(`${word} ${index} ${"long ".repeat(Math.random() * 8)}.`, word, facts);
        });
        await create(fixture.store, entities);
        const { pages, names } = await allPages(word, limit);
        expect(new Set(names).size, JSON.stringify([limit, names])).toBe(24);
        expect(pages.slice(0, -1).every(({ total }) => total === 24)).toBe(true);
      }
    });

    it("ranks facts by rare words first, then the beginnings of words, then the newest", async () => {
      const facts = Array.from({ length: 40 }, (_, index) => `Mira drinks tea number ${index}`);
      await create(fixture.store, [
        entity("Mira", "person", [
          "Mira has steamed rice",
          "has a new tattoo of a heron",
          ...facts,
          "waits instead",
        ]),
        entity("東京", "place", [
          ...facts.map((_, index) => `朝に電車${index}番に乗る`),
          "駅の近くに喫茶店がある",
        ]),
      ]);
      const best = async (query: string) => (await page(query)).entities[0]?.observations;
      expect((await best("Mira's tattoos"))?.[0]).toBe("has a new tattoo of a heron");
      expect((await best("tea"))?.slice(0, 40)).toEqual(facts.toReversed());
      expect((await best("heronry of Mira"))?.[0]).toBe("has a new tattoo of a heron");
      expect((await best("喫茶店はどこですか"))?.[0]).toBe("駅の近くに喫茶店がある");
      expect((await best("person"))?.slice(0, 9)).toEqual([
        "waits instead",
        ...facts.toReversed().slice(0, 8),
      ]);
    });

    ifWhole(
      "fills an answer with the best whole facts of the best entities, 105 characters for each of limit",
      async () => {
        const about = (name: string, count: number) =>
          Array.from(
            { length: count },
            (_, index) => `${name} sailed to island ${index}, ${"far away ".repeat(8)}.`,
          );
        const [mira, tomas] = [about("Mira", 60), about("Tomas", 60)];
        await create(fixture.store, [
          entity("Mira", "person", mira),
          entity("Tomas", "person", tomas),
        ]);
        for (const limit of [20, 50]) {
          const answer = await page("to which islands did Mira sail", { limit });
          const { entities } = answer;
          const facts = entities.flatMap(({ observations = [] }) => observations);
          const characters = JSON.stringify(answer).length;
          expect(characters).toBeLessThanOrEqual(105 * limit);
          expect(characters).toBeGreaterThan(105 * limit - 250);
          expect(facts.join("").length / characters).toBeGreaterThan(0.75);
          expect([...mira, ...tomas]).toEqual(expect.arrayContaining(facts));
          // All of the person match alike: the newest first.
          expect(entities[0]).toMatchObject({
            name: "Mira",
            more: 60 - (entities[0]?.observations?.length ?? 0),
          });
          expect(facts.slice(0, 5)).toEqual(mira.toReversed().slice(0, 5));
        }
      },
    );

    it("follows every change: renamed, merged, deleted, brought back", async () => {
      const { store } = fixture;
      await create(store, [
        entity("Ada", "person", ["violet"]),
        entity("Bo", "person", ["crimson"]),
      ]);
      const renamed = await updateEntities(
        store,
        [{ name: "Ada", new_name: "Countess", new_type: "noble" }],
        { action: "u" },
      );
      expect(await search("ada")).toEqual([]);
      expect(await search("countess noble")).toEqual(["Countess"]);
      await undoChange(store, renamed.change_id ?? 0, { action: "undo" });
      expect(await search("countess")).toEqual([]);
      const merged = await updateEntities(store, [{ name: "Ada", merge_into: "Bo" }], {
        action: "u",
      });
      expect(await search("violet")).toEqual(["Bo"]);
      await undoChange(store, merged.change_id ?? 0, { action: "undo" });
      expect(await search("violet")).toEqual(["Ada"]);
      const gone = await forget(store, ["Ada"]);
      expect(await search("violet")).toEqual([]);
      await undoChange(store, gone.change_id ?? 0, { action: "undo" });
      expect(await search("violet")).toEqual(["Ada"]);
    });

    itLong("stays correct if a word is in more rows than are ranked", async () => {
      const crowd = Array.from({ length: 9_000 }, (_, index) =>
        entity(`c${index}`, "crowd", ["common one", "common two"]),
      );
      await create(fixture.store, [entity("first", "t", ["common rarest"]), ...crowd]);
      expect(await search("common rarest")).toEqual(["first"]);
      expect(await search("ommon arest")).toEqual(["first"]);
      const all = await page("common");
      expect(all.total_is_minimum).toBe(true);
      expect(all.entities).toHaveLength(20);
    });
  });
}
