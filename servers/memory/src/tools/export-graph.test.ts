import { readdir, readFile } from "node:fs/promises";
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
  expect(await failure("export_graph")).toMatch(/The graph as jsonl is 49 KiB.*\nPass path/);
});

it("writes one note for each entity to a new directory", async () => {
  const { data, failure, folder } = await circle();
  const names = ["a/b: c?", "A/B: C?", "con", "]] [[x|y#z%5D", "../../escape", "\n"];
  await data("create_entities", {
    entities: names.map((name) => ({
      name: `${name}x`,
      entityType: 'o"dd',
      observations: ["two\nlines"],
    })),
  });
  await data("create_relations", {
    relations: [{ from: "Ada", to: "]] [[x|y#z%5Dx", relationType: "is near" }],
  });
  const { files, path } = await data("export_graph", { format: "markdown", path: "vault" });
  expect(files).toBe(9);
  expect((await readdir(join(folder, "vault"))).sort()).toEqual(
    [
      "-..-escapex.md",
      "- -x-y-z%5Dx.md",
      "A-B- C-x 2.md",
      "Ada.md",
      "Bo.md",
      "Cy.md",
      "a-b- c-x.md",
      "conx.md",
      "x.md",
    ].sort(),
  );
  expect(path).toBe(join(folder, "vault"));
  expect(await readFile(join(folder, "vault", "Ada.md"), "utf8")).toBe(
    '---\ntitle: "Ada"\ntype: "person"\n---\n\n# Ada\n\n## Observations\n- [fact] Ada likes tea\n\n## Relations\n- knows [[Bo]]\n- is near [[     x y z%5Dx]]\n',
  );
  expect(await failure("export_graph", { format: "markdown", path: "vault" })).toContain(
    "already exists",
  );
  expect(await failure("export_graph", { format: "markdown" })).toContain("needs a path");
});

it("moves a memory with its times, sources and history to another one", async () => {
  const first = await circle();
  await first.data("add_observations", {
    observations: [
      { entityName: "Ada", contents: ["Ada likes coffee"], replaces: ["Ada likes tea"] },
    ],
    source: "Bo",
  });
  const opened = { names: ["Ada", "Bo"], history: true };
  const before = await first.data("open_nodes", opened);
  expect(JSON.stringify(before)).toContain("until");
  const { text } = await first.data("export_graph");
  const second = await session();
  await second.data("import_graph", { text, source: "a backup" });
  const after = await second.data("open_nodes", opened);
  const withoutIds = (value: unknown) => JSON.stringify(value).replaceAll(/#\d+/g, "#");
  expect(withoutIds(after)).toBe(withoutIds(before));
  expect(await second.data("export_graph")).toMatchObject({ text });
});
