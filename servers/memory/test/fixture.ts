import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import { openSqliteStore } from "../src/graph/store/sqlite-store.ts";
import { exportLines } from "../src/graph/transfer/export.ts";
import { createEntities } from "../src/graph/write/entities.ts";
import { createRelations } from "../src/graph/write/relations.ts";

const SECRET = "hunter2-planted-secret";

const crowd = Array.from({ length: 3_000 }, (_, index) => ({
  name: `Reader ${index}`,
  entityType: "reader",
  observations: [`has read page ${index} of the notes and found it hard to follow in places`],
}));

/** The file of a memory with a small circle of people, and a crowd. */
async function filledFile(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-template-"));
  const file = join(folder, "memory.db");
  const store = await openSqliteStore(file);
  const facts = { action: "create_entities", source: "the fixture" };
  await createEntities(
    store,
    [
      { name: "Ada", entityType: "person", observations: ["wrote the first program", "likes tea"] },
      { name: "Charles", entityType: "person", observations: ["designed the Analytical Engine"] },
      { name: "Analytical Engine", entityType: "machine", observations: [] },
      { name: "Mary", entityType: "person", observations: ["teaches mathematics"] },
    ],
    { ...facts, on_conflict: "error" },
  );
  await createRelations(
    store,
    [
      { from: "Ada", to: "Charles", relationType: "works with" },
      { from: "Charles", to: "Analytical Engine", relationType: "designed" },
      { from: "Mary", to: "Ada", relationType: "teaches" },
    ],
    { ...facts, action: "create_relations", on_missing: "error" },
  );
  await createEntities(store, crowd, { ...facts, on_conflict: "error" });
  await store.close();
  const bytes = await readFile(file);
  await rm(folder, { recursive: true, force: true });
  return bytes;
}

/** Filled once for all tests of the process; each gets a copy. */
let filled: Promise<Buffer> | undefined;

/** A small circle of people in a separate memory, and a directory for imports and exports. */
export async function world(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-world-"));
  const file = join(folder, "memory.db");
  filled ??= filledFile();
  await writeFile(file, await filled, { mode: 0o600 });
  const official = join(folder, "official.jsonl");
  await writeFile(
    official,
    `${JSON.stringify({ type: "entity", name: "Luigi", entityType: "person", observations: ["wrote it down"] })}\nnot a line\n`,
  );
  await writeFile(join(folder, "private.txt"), SECRET);
  return {
    args: ["--file", file, "--root", folder],
    calls: {
      add_observations: {
        observations: [{ entityName: "Ada", contents: ["likes tea", "plays chess"] }],
      },
      create_entities: {
        entities: [
          { name: "Luigi", entityType: "person", observations: ["took notes in Turin"] },
          { name: "Ada", entityType: "person", observations: [] },
        ],
      },
      create_relations: {
        relations: [{ from: "Ada", to: "Analytical Engine", relationType: "programmed" }],
      },
      delete_entities: { entityNames: ["Mary", "Nobody"] },
      delete_observations: { deletions: [{ entityName: "Ada", observations: ["likes tea"] }] },
      delete_relations: { relations: [{ from: "Mary", to: "Ada", relationType: "teaches" }] },
      export_graph: { format: "jsonl", path: "export.jsonl" },
      import_graph: { path: "official.jsonl" },
      memory_stats: {},
      open_nodes: { names: ["Ada", "Charlie"] },
      read_graph: { limit: 5 },
      recent_changes: {},
      search_nodes: { query: "machine engine" },
      undo_memory_change: { change_id: 2 },
      update_entities: { updates: [{ name: "Mary", new_name: "Mary Somerville" }] },
    },
    losses: {
      delete_entities: { arguments: { entityNames: ["Mary"], hard: true } },
      delete_observations: {
        arguments: { deletions: [{ entityName: "Ada", observations: ["likes tea"] }], hard: true },
      },
      delete_relations: {
        arguments: {
          relations: [{ from: "Mary", to: "Ada", relationType: "teaches" }],
          hard: true,
        },
      },
    },
    failures: {
      add_observations: { observations: [{ entityName: "Adda", contents: ["x"] }] },
      create_entities: { entities: [{ name: "", entityType: "x", observations: [] }] },
      create_relations: { relations: [{ from: "Ada", to: "Nobody", relationType: "knows" }] },
      delete_entities: { entityNames: ["Nobody"] },
      delete_observations: { deletions: [{ entityName: "Ada", observations: ["no such fact"] }] },
      delete_relations: { relations: [{ from: "Ada", to: "Mary", relationType: "x" }] },
      export_graph: { format: "jsonl" },
      import_graph: { path: "/etc/passwd" },
      open_nodes: { names: ["Nobody"] },
      read_graph: { cursor: "made up" },
      search_nodes: { query: "x", since: "yesterday" },
      undo_memory_change: { change_id: 999 },
      update_entities: { updates: [{ name: "Mary", new_name: "Ada" }] },
    },
    large: {
      read_graph: { limit: 1_000 },
      search_nodes: { query: "reader page", limit: 100 },
      open_nodes: { names: crowd.slice(0, 900).map(({ name }) => name) },
    },
    secret: SECRET,
    async fingerprint() {
      const hash = createHash("sha256");
      const reading = await openSqliteStore(file);
      hash.update(await exportLines(reading));
      hash.update(JSON.stringify(await reading.read((reader) => reader.changes(undefined, 100))));
      await reading.close();
      hash.update(await readFile(official));
      return hash.digest("hex");
    },
    stable: (text) =>
      text
        .replaceAll(folder, "/world")
        .replace(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g, "2026-07-28T09:00:00.000Z")
        .replace(/"20\d{2}-\d{2}-\d{2}(?=[",\\])/g, '"2026-07-28'),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}
