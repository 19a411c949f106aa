import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { circle, session } from "../../test/session.ts";

it("writes lines of JSON to a new file and overwrites none", async () => {
  const { data, failure, folder } = await circle();
  const path = join(folder, "graph.jsonl");
  const { bytes } = await data("export_graph", { path });
  const content = await readFile(path);
  expect(content.length).toBe(bytes);
  expect(content.toString("utf8").startsWith('{"type":"entity","name":"Ada"')).toBe(true);
  expect(await failure("export_graph", { path })).toContain("graph.jsonl");
  expect(await data("export_graph")).toMatchObject({ text: content.toString("utf8") });
});

it("refuses text that is larger than a response", async () => {
  const { data, failure } = await session();
  const observations = Array.from({ length: 100 }, (_, index) => `${index} `.padEnd(500, "x"));
  await data("create_entities", { entities: [{ name: "A", entityType: "t", observations }] });
  expect(await failure("export_graph")).toMatch(/The graph as jsonl is 52 KiB.*\nPass path/);
});

it("writes a document to read", async () => {
  const { data } = await circle();
  await data("create_entities", {
    entities: [{ name: "a\n# b", entityType: "t", observations: ["two\nlines"] }],
  });
  await data("create_relations", {
    relations: [{ from: "Ada", to: "a\n# b", relationType: "is near" }],
  });
  expect((await data("export_graph", { format: "markdown" })).text).toBe(`# Memory

## Ada (person)

- Ada likes tea
- knows → Bo
- is near → a # b

## Bo (person)

- Bo likes tea
- knows → Cy

## Cy (person)

- Cy likes tea

## a # b (t)

- two lines
`);
});
