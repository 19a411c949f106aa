import type { Task, World } from "@refmcp/testing";
import { openSqliteStore } from "../src/graph/store/sqlite-store.ts";
import { exportLines } from "../src/graph/transfer/export.ts";
import { parseMemory } from "../src/graph/transfer/jsonl.ts";
import type { Entity, Relation } from "../src/graph/types.ts";

const dataOf = (text: string): Record<string, unknown> => JSON.parse(text);

/** The current content of the world's memory. */
async function memoryOf(
  world: World,
): Promise<{ entities: Map<string, Entity>; relations: Relation[] }> {
  const store = await openSqliteStore(world.args[1] ?? "");
  const entities = new Map<string, Entity>();
  const relations: Relation[] = [];
  for (const parsed of parseMemory(Buffer.from(await exportLines(store)))) {
    if (parsed.kind === "entity") {
      const { facts, ...entity } = parsed.entity;
      entities.set(entity.name, { ...entity, observations: facts.map(({ content }) => content) });
    }
    if (parsed.kind === "relation") relations.push(parsed.relation);
  }
  await store.close();
  return { entities, relations };
}

const related = (relations: readonly Relation[], from: string, to: string) =>
  relations.some((relation) => relation.from === from && relation.to === to);

export const tasks: readonly Task[] = [
  {
    name: "recall what is known about a person",
    prompt: "What do you know about the person who likes tea?",
    async reference(call) {
      const people = await call("search_nodes", { query: "likes tea", types: ["person"] });
      return `${people}\n${await call("open_nodes", { names: ["Ada"] })}`;
    },
    check: (answer) => answer.includes("Ada") && answer.includes("wrote the first program"),
  },
  {
    name: "remember a new person and her relations",
    prompt:
      "Remember: Sophia De Morgan is a friend of Mary; she met Ada at Charles's house in 1834.",
    async reference(call) {
      await call("search_nodes", { query: "Sophia De Morgan" });
      const entity = {
        name: "Sophia De Morgan",
        entityType: "person",
        observations: ["met Ada at Charles's house in 1834"],
      };
      await call("create_entities", { entities: [entity], source: "the user" });
      await call("create_relations", {
        relations: [{ from: "Sophia De Morgan", to: "Mary", relationType: "is a friend of" }],
      });
      return "Remembered.";
    },
    async check(_answer, world) {
      const { entities, relations } = await memoryOf(world);
      const facts = entities.get("Sophia De Morgan")?.observations.join(" ") ?? "";
      return facts.includes("1834") && related(relations, "Sophia De Morgan", "Mary");
    },
  },
  {
    name: "correct a fact",
    prompt: "Ada no longer likes tea; she drinks coffee now.",
    async reference(call) {
      await call("delete_observations", {
        deletions: [{ entityName: "Ada", observations: ["likes tea"] }],
      });
      await call("add_observations", {
        observations: [{ entityName: "Ada", contents: ["likes coffee"] }],
      });
      return "Corrected.";
    },
    async check(_answer, world) {
      const facts = (await memoryOf(world)).entities.get("Ada")?.observations ?? [];
      return !facts.includes("likes tea") && facts.some((fact) => fact.includes("coffee"));
    },
  },
  {
    name: "find the path between two entities",
    prompt: "How is Mary connected with the Analytical Engine?",
    reference: (call) => call("open_nodes", { names: ["Mary"], depth: 3 }),
    check: (answer) =>
      ["Mary", "Ada", "Charles", "Analytical Engine"].every((name) => answer.includes(name)),
  },
  {
    name: "rename a person",
    prompt: "Mary is Mary Somerville. Use her full name from now on.",
    async reference(call) {
      await call("update_entities", { updates: [{ name: "Mary", new_name: "Mary Somerville" }] });
      return "Done.";
    },
    async check(_answer, world) {
      const { entities, relations } = await memoryOf(world);
      return (
        entities.has("Mary Somerville") &&
        !entities.has("Mary") &&
        related(relations, "Mary Somerville", "Ada")
      );
    },
  },
  {
    name: "merge two entries of one person",
    prompt:
      "Remember that Babbage had a house in Dorset Street. … Oh, Babbage is Charles, make that one person.",
    async reference(call) {
      const entity = {
        name: "Babbage",
        entityType: "person",
        observations: ["had a house in Dorset Street"],
      };
      await call("create_entities", { entities: [entity] });
      await call("update_entities", { updates: [{ name: "Babbage", merge_into: "Charles" }] });
      return "One person now.";
    },
    async check(_answer, world) {
      const { entities } = await memoryOf(world);
      const facts = entities.get("Charles")?.observations.join(" ") ?? "";
      return !entities.has("Babbage") && facts.includes("Dorset Street");
    },
  },
  {
    name: "delete and restore",
    prompt: "Forget Mary. … No wait, bring her back.",
    async reference(call) {
      const { change_id } = dataOf(await call("delete_entities", { entityNames: ["Mary"] }));
      await call("undo_memory_change", { change_id });
      return `back again: ${await call("open_nodes", { names: ["Mary"] })}`;
    },
    check: async (answer, world) =>
      answer.includes("teaches mathematics") && (await memoryOf(world)).entities.has("Mary"),
  },
  {
    name: "erase permanently",
    prompt: "Erase everything about Mary permanently; nothing may remain.",
    async reference(call) {
      await call("delete_entities", { entityNames: ["Mary"], hard: true });
      return "Erased.";
    },
    async check(_answer, world) {
      const store = await openSqliteStore(world.args[1] ?? "");
      const removed = await store.read((reader) => reader.removedNamed(["Mary"]));
      await store.close();
      return removed.length === 0 && !(await memoryOf(world)).entities.has("Mary");
    },
  },
  {
    name: "import an old memory file",
    args: ["--toolsets", "all"],
    prompt: "I have an old memory in official.jsonl. Import it and tell me what could not be read.",
    reference: (call) => call("import_graph", { path: "official.jsonl" }),
    check: async (answer, world) =>
      answer.includes("not a line") && (await memoryOf(world)).entities.has("Luigi"),
  },
  {
    name: "count without reading everything",
    args: ["--toolsets", "all"],
    prompt: "How many readers do you know, and what kinds of things are in the memory?",
    reference: (call) => call("memory_stats"),
    check: (answer) =>
      answer.includes('{"type":"reader","count":3000}') && answer.includes('"machine"'),
  },
  {
    name: "report recent changes",
    prompt: "What was added last, and where did it come from?",
    reference: (call) => call("recent_changes", { limit: 3 }),
    check: (answer) => answer.includes("3,000 entities") && answer.includes("the fixture"),
  },
];
