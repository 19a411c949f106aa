import { describe, expect, it } from "vitest";
import { undoChange } from "../../src/graph/journal/undo.ts";
import { openNodes } from "../../src/graph/read/nodes.ts";
import { searchNodes } from "../../src/graph/search/search.ts";
import { exportLines } from "../../src/graph/transfer/export.ts";
import { importMemory } from "../../src/graph/transfer/import.ts";
import { budget, create, entity, type Fixture, officialLines, relate, relation } from "./help.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");

/** Awkward names. */
const AWKWARD = [
  "quotes \" and ' and `",
  "line\nbreak\r\nand\ttab",
  "emoji 👩‍👩‍👧 🏳️‍🌈",
  "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
  "مرحبا שלום",
  "\u202eright to left",
  "\u{10fffd}1 private \u{10fffd}",
  "__proto__",
  "'; DROP TABLE entities; --",
  "%_\\ ? $1 {in}",
  "null",
  "n".repeat(10_000),
  "é",
  "e\u0301",
];

export function transferSuite(fixture: Fixture): void {
  const load = (text: string | Uint8Array) =>
    importMemory(fixture.store, typeof text === "string" ? bytes(text) : text, {
      action: "import_graph",
    });
  const backup = () => exportLines(fixture.store);
  const dump = () => officialLines(fixture.store);

  describe("import and export", () => {
    it("keeps awkward names and texts exactly", async () => {
      const { store } = fixture;
      await create(
        store,
        AWKWARD.map((name) => entity(name, name.slice(0, 500), [name, `has ${name}`])),
      );
      await relate(
        store,
        AWKWARD.map((name) => relation(name, name.slice(0, 500), "é")),
      );
      expect(
        (await dump())
          .split("\n")
          .map((line) => JSON.parse(line))
          .slice(0, AWKWARD.length),
      ).toEqual(
        AWKWARD.map((name) => ({
          type: "entity",
          name,
          entityType: name.slice(0, 500),
          observations: [name, `has ${name}`],
        })),
      );
      for (const name of AWKWARD) {
        const { entities } = await openNodes(store, { names: [name], budget: 60_000 });
        expect(entities[0]?.name).toBe(name);
        const query = name.slice(0, 40);
        const result = await searchNodes(store, { query, limit: 50, budget: 4 * budget });
        expect(
          result.entities.map((entity) => entity.name),
          JSON.stringify(query),
        ).toContain(name);
      }
      expect((await create(store, [entity("half \ud83d pair, \0")])).entities[0]?.name).toBe(
        "half \ufffd pair, \ufffd",
      );
    });

    it("exports byte for byte what it imported from a valid official file", async () => {
      const official = [
        JSON.stringify({
          type: "entity",
          name: "Ada",
          entityType: "person",
          observations: ["é \u2028 \n", "two"],
        }),
        JSON.stringify({ type: "entity", name: "Bo", entityType: "person", observations: [] }),
        JSON.stringify({ type: "relation", from: "Bo", to: "Ada", relationType: "knows" }),
        JSON.stringify({ type: "relation", from: "Ada", to: "Bo", relationType: "knows" }),
      ].join("\n");
      expect(await load(official)).toMatchObject({
        entities: 2,
        observations: 2,
        relations: 2,
        rejects: [],
        created_for_relations: 0,
      });
      expect(await dump()).toBe(official);
      expect(await load(official)).toMatchObject({ entities: 0, observations: 0, relations: 0 });
      expect(await dump()).toBe(official);
    });

    it("restores times and sources from its own export", async () => {
      const learned = ["2024-01-02T03:04:05.678Z", "2025-06-07T08:09:10.011Z"];
      const lines = [
        {
          ...entity("Ada", "person", ["lives in Graz", "likes tea"]),
          learned,
          source: ["Bo", null],
        },
        { ...entity("Empty", "thing"), learned: [], source: [] },
      ];
      const text = lines.map((line) => JSON.stringify({ type: "entity", ...line })).join("\n");
      const loaded = await load(text);
      expect(loaded).toMatchObject({ entities: 2, observations: 2, rejects: [] });
      expect(await backup()).toBe(text);
      const undone = await undoChange(fixture.store, loaded.change_id ?? 0, { action: "undo" });
      expect(await backup()).toBe("");
      await undoChange(fixture.store, undone.change_id, { action: "undo" });
      expect(await backup()).toBe(text);
      // Again: everything exists. Fields of other programs with these names are ignored.
      expect(await load(text)).toMatchObject({ entities: 0, observations: 0, duplicates: 4 });
      const foreign = { type: "entity", ...entity("Dee", "t", ["x", "y"]) };
      await load(JSON.stringify({ ...foreign, learned: 7, source: { a: 1 } }));
      // A list that does not fit the observations.
      await load(
        JSON.stringify({ ...foreign, name: "Eve", learned: [learned[0]], source: ["Bo"] }),
      );
      expect((await backup()).split("\n").slice(2).join()).not.toMatch(/2024|Bo/);
    });

    it("reads damaged files, and rejects only unreadable lines", async () => {
      const line = (name: string) =>
        JSON.stringify({ type: "entity", name, entityType: "t", observations: ["x"], version: 2 });
      const text = [
        `\ufeff${line("bom")}`,
        `${line("crlf")}\r`,
        "",
        `{"type":"entity","name":"torn","entityTy${line("after the tear")}`,
        "",
        '{"type":"entity","name":"","entityType":"t","observations":[]}',
        '{"type":"entity","name":"no type"}',
        '{"type":"entity","name":"numbers","entityType":"t","observations":[1]}',
        '{"type":"thing"}',
        "[1,2]",
        JSON.stringify({ type: "relation", from: "bom", to: "nowhere", relationType: "r" }),
        JSON.stringify({ type: "entity", name: "no facts", entityType: "t" }),
        JSON.stringify({
          type: "entity",
          name: "bom",
          entityType: "t",
          observations: ["x", "more"],
        }),
        '{"type":"entity","name":"cut o',
      ].join("\n");
      const imported = await load(
        Buffer.concat([bytes(text), Buffer.from("\n\xff\xfe", "latin1")]),
      );
      expect(imported).toMatchObject({
        entities: 3,
        observations: 3,
        relations: 1,
        created_for_relations: 1,
        duplicates: 2,
      });
      expect(imported.rejects.map((reject) => [reject.line, reject.reason])).toEqual([
        [4, "it is not JSON (cut off or damaged)"],
        [6, "name: An entity's name must not be empty"],
        [7, "entityType: Invalid input: expected string, received undefined"],
        [8, "observations.0: Invalid input: expected string, received number"],
        [9, 'type: neither "entity" nor "relation"'],
        [10, 'the line: neither "entity" nor "relation"'],
        [14, "it is not JSON (cut off or damaged)"],
        [15, "it is not UTF-8"],
      ]);
      expect(await dump()).toContain('"name":"bom","entityType":"t","observations":["x","more"]');
      await undoChange(fixture.store, imported.change_id ?? 0, { action: "undo" });
      expect(await dump()).toBe("");
    });

    it("keeps all of twenty concurrent changes over two connections", async () => {
      const other = await fixture.again();
      await create(fixture.store, [entity("hub")]);
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          create(
            index % 2 === 0 ? fixture.store : other,
            [entity(`e${index}`), entity("shared", "t", [`by ${index}`])],
            "merge",
          ),
        ),
      );
      expect(await other.read((reader) => reader.counts())).toEqual({
        entities: 22,
        observations: 20,
        relations: 0,
      });
    });
  });
}
