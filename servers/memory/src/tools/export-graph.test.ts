import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { circle, session } from "../../test/session.ts";

it("writes every format to a new file and overwrites none", async () => {
  const { data, failure, folder } = await circle();
  for (const [format, begins] of [
    ["jsonl", '{"type":"entity","name":"Ada"'],
    ["graphml", "<?xml"],
    ["mermaid", "flowchart LR"],
  ] as const) {
    const path = join(folder, `graph.${format}`);
    const { bytes } = await data("export_graph", { format, path });
    const content = await readFile(path);
    expect(content.length).toBe(bytes);
    expect(content.toString("utf8").startsWith(begins), format).toBe(true);
    expect(await failure("export_graph", { format, path })).toContain(`graph.${format}`);
  }
  expect(await data("export_graph")).toMatchObject({
    text: await readFile(join(folder, "graph.jsonl"), "utf8"),
  });
});

it("refuses text that is larger than a response", async () => {
  const { data, failure } = await session();
  const observations = Array.from({ length: 100 }, (_, index) => `${index} `.padEnd(500, "x"));
  await data("create_entities", { entities: [{ name: "A", entityType: "t", observations }] });
  expect(await failure("export_graph")).toMatch(/The graph as jsonl is 49 KiB.*\nPass path/);
});

it("writes one note for each entity to a new directory, which imports as the same graph", async () => {
  const { data, failure, folder } = await circle();
  await data("create_entities", {
    entities: [
      {
        name: "a/b: c?",
        entityType: "odd",
        observations: ["two\nlines ", "[x] not a task", "<br> stays"],
      },
      { name: "A/B: C?", entityType: "odd", observations: ["another case"] },
      { name: "con", entityType: "true", observations: ["[mood] good"] },
      { name: "]] [[x|y#z%5D", entityType: 'it\'s "odd"', observations: [] },
    ],
  });
  await data("create_relations", {
    relations: [
      { from: "con", to: "a/b: c?", relationType: "works `at` [[" },
      { from: "Ada", to: "]] [[x|y#z%5D", relationType: 'is "near"' },
    ],
    on_missing: "create",
  });
  const before = await data("export_graph");
  const { files, path } = await data("export_graph", { format: "markdown", path: "vault" });
  expect(files).toBe((await readdir(join(folder, "vault"))).length);
  expect(path).toBe(join(folder, "vault"));
  expect(await readFile(join(folder, "vault", "Ada.md"), "utf8")).toBe(
    '---\ntitle: Ada\ntype: person\npermalink: ada\n---\n\n# Ada\n\n## Observations\n- [fact] Ada likes tea\n\n## Relations\n- knows [[Bo]]\n- "is &#34;near&#34;" [[%5D%5D %5B%5Bx%7Cy%23z%255D]]\n',
  );
  expect(await failure("export_graph", { format: "markdown", path: "vault" })).toContain(
    "already exists",
  );
  expect(await failure("export_graph", { format: "markdown" })).toContain("needs a path");
  // Everything in it already exists.
  expect(await data("import_graph", { path: "vault" })).toMatchObject({
    entities: 0,
    observations: 0,
    relations: 0,
    created_for_relations: 0,
  });
  expect(await data("export_graph")).toEqual(before);
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
