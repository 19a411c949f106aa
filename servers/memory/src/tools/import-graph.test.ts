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

it("imports the memories of Claude and ChatGPT, and refuses their chats", async () => {
  const { data, failure, folder } = await circle();
  await writeAll(folder, {
    "claude/memories.json": JSON.stringify([
      {
        conversations_memory: "**Work context**\n\nAda builds engines.\n- prefers tea\n",
        project_memories: { "0199-a": "Uses hexagonal architecture.", "0199-b": "Unnamed." },
        account_uuid: "1",
      },
    ]),
    "claude/projects.json": JSON.stringify([{ uuid: "0199-a", name: "Engine" }]),
    "claude/conversations.json": JSON.stringify([{ uuid: "1", chat_messages: [] }]),
    "chatgpt.json": JSON.stringify({
      memories: [{ id: "m1", content: "Likes Graz", updated_at: 1_767_225_600 }],
    }),
    "copied.txt":
      "[2025-03-04] - Has a cat\n- Speaks German\n\n# Preferences\n3. Dislikes meetings\n",
    "chats.json": JSON.stringify([{ title: "Hi", mapping: {} }]),
  });
  expect(await data("import_graph", { path: "claude" })).toMatchObject({
    entities: 3,
    observations: 4,
    not_taken: ["conversations.json"],
  });
  expect(await data("import_graph", { path: "chatgpt.json" })).toMatchObject({
    entities: 0,
    observations: 1,
  });
  expect(await data("import_graph", { path: "copied.txt" })).toMatchObject({ observations: 3 });
  expect(
    await data("import_graph", { text: "[ ] Runs marathons {fast}\nHas a cat" }),
  ).toMatchObject({
    observations: 1,
    duplicates: 2,
  });
  const { entities } = await data("open_nodes", {
    names: ["User", "Engine", "Claude project 0199-b"],
  });
  expect(entities).toMatchObject([
    {
      observations: expect.arrayContaining([
        "[Work context] Ada builds engines.",
        "[Work context] prefers tea",
        "Likes Graz",
        "Has a cat",
        "Speaks German",
        "Dislikes meetings",
        "[ ] Runs marathons {fast}",
      ]),
      learned: expect.arrayContaining([
        expect.stringMatching(/^2026-01-01/),
        expect.stringMatching(/^2025-03-04/),
      ]),
    },
    { entityType: "project", observations: ["Uses hexagonal architecture."] },
    { observations: ["Unnamed."] },
  ]);
  expect(await failure("import_graph", { path: "chats.json" })).toContain(
    "holds chats, which are not memories",
  );
});
