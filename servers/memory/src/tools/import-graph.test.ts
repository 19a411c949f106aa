import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

const line = (name: string) =>
  JSON.stringify({ type: "entity", name, entityType: "person", observations: ["from a file"] });

it("imports a file into existing data, keeps the bad lines and is one change", async () => {
  const { data, failure, folder } = await circle();
  const file = join(folder, "old.jsonl");
  await writeFile(file, `${line("Ada")}\n${line("Dee")}\nnonsense\n`);
  const imported = await data("import_graph", { path: "old.jsonl" });
  expect(imported).toMatchObject({
    entities: 1,
    observations: 2,
    duplicates: 1,
    rejected: 1,
    rejects: [{ line: 3, text: "nonsense" }],
    rejects_file: `${file}.rejects`,
  });
  expect(await readFile(`${file}.rejects`, "utf8")).toContain('"line":3');
  await data("undo_memory_change", { change_id: imported.change_id });
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 3, observations: 3 } });
  expect(await failure("import_graph", { path: "missing.jsonl" })).toContain("missing.jsonl");
  expect(await failure("import_graph")).toContain("Neither path nor text is given.");
});

/** Writes files, by their paths below a folder. */
async function writeAll(folder: string, files: Readonly<Record<string, string | Uint8Array>>) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

it("imports a directory of notes: facts, links, sentences, and reports what it left", async () => {
  const { data, failure, folder } = await circle();
  await writeAll(join(folder, "vault"), {
    "coffee/brewing.md":
      '---\ntitle: Coffee Brewing\ntype: guide\npermalink: coffee/brewing-methods\ntags: [coffee]\n---\n# Coffee Brewing\n\nGrind it fresh.\nAlways.\n\n## Observations\n- [method] Pour over is clear #brewing (tested)\n- [ ] buy filters\n\n## Relations\n- requires [[grinding]]\n- "part of" [[Breakfast|the morning]] (daily)\n- made_by [[Ada]]\n\n```sh\n[[ -f no-link ]]\n```\n',
    "grinding.md": "See [[coffee/brewing-methods]] and ![[picture.png]].\n",
    "notes/grinding.md": "Another note with a name that is taken.\n",
    "picture.png": new Uint8Array([1, 2]),
    "latin.md": new Uint8Array([0xe9, 0x0a]),
    ".obsidian/workspace.md": "not a note",
  });
  const imported = await data("import_graph", { path: "vault" });
  expect(imported).toMatchObject({
    entities: 3,
    observations: 5,
    relations: 4,
    created_for_relations: 1,
    not_taken: [
      "picture.png",
      "latin.md: latin.md is not UTF-8.",
      "code, tables and HTML in 1 note",
    ],
  });
  expect(
    await data("open_nodes", { names: ["Coffee Brewing", "grinding", "notes/grinding"] }),
  ).toMatchObject({
    entities: [
      {
        name: "Coffee Brewing",
        entityType: "guide",
        observations: [
          "[method] Pour over is clear #brewing (tested)",
          "Grind it fresh.\nAlways.",
          "buy filters",
        ],
      },
      { name: "grinding", observations: ["See [[coffee/brewing-methods]] and ![[picture.png]]."] },
      { name: "notes/grinding" },
    ],
    relations: expect.arrayContaining([
      { from: "Coffee Brewing", to: "grinding", relationType: "requires" },
      { from: "Coffee Brewing", to: "Breakfast", relationType: "part of" },
      { from: "Coffee Brewing", to: "Ada", relationType: "made_by" },
      { from: "grinding", to: "Coffee Brewing", relationType: "links_to" },
    ]),
  });
  expect(JSON.stringify(await data("open_nodes", { names: ["grinding"] }))).toContain(
    "grinding.md",
  );
  await data("undo_memory_change", { change_id: imported.change_id });
  expect(await data("memory_stats")).toMatchObject({
    total: { entities: 3, observations: 3, relations: 2 },
  });
  expect(await data("import_graph", { path: "vault/grinding.md" })).toMatchObject({ entities: 1 });
  expect(await data("import_graph", { path: "." })).toMatchObject({ entities: 2 });
  await mkdir(join(folder, "empty"));
  expect(await failure("import_graph", { path: "empty" })).toContain("has no notes (.md)");
});
