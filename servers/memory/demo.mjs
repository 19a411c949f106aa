import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "remembers facts across sessions, and can undo changes.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ folder, say, check, connect }) {
  const official = join(folder, "memory.jsonl");
  const lines = [
    { type: "entity", name: "Ada", entityType: "person", observations: ["lives in London"] },
    { type: "entity", name: "Analytical Engine", entityType: "machine", observations: [] },
  ];
  await writeFile(
    official,
    `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"type":"entity","na`,
  );

  const before = await readFile(official, "utf8");

  say(
    "A memory file of the official server, its last line cut off by a crash. It is imported and left unchanged.",
  );
  const first = await connect("memory", {
    era: "legacy",
    args: ["--file", official, "--root", folder],
  });
  const cafe = {
    name: "Café Babbage",
    entityType: "place",
    observations: ["opens at nine", "has the best tea"],
  };
  await first.call("create_entities", { entities: [cafe] }, { entities: [cafe] });
  const meets = { from: "Ada", to: "Café Babbage", relationType: "meets friends at" };
  await first.call("create_relations", { relations: [meets] }, { relations: [meets] });
  await first.close();
  check("the official server's file is unchanged", (await readFile(official, "utf8")) === before);

  say(
    "A new process and a newer protocol revision: everything is there. A search finds it without the accent, the best fact first.",
  );
  const second = await connect("memory", {
    era: "modern",
    args: ["--file", official, "--root", folder],
  });
  const bestFirst = { ...cafe, observations: ["has the best tea", "opens at nine"] };
  await second.call(
    "search_nodes",
    { query: "cafe tea" },
    { entities: [bestFirst], relations: [meets] },
  );
  await second.call(
    "open_nodes",
    { names: ["Ada"], depth: 1 },
    { entities: [{ name: "Ada" }, { name: "Café Babbage" }] },
  );

  say("A deletion can be undone, and a misspelled name gets a suggestion.");
  const { structuredContent } = await second.call(
    "delete_entities",
    { entityNames: ["Café Babbage"] },
    { deleted: { entities: 1, observations: 2, relations: 1 } },
  );
  const { change_id } = structuredContent;
  await second.call("undo_memory_change", { change_id }, { undone: change_id });
  await second.call("open_nodes", { names: ["Café Babbage"] }, { entities: [cafe] });
  await second.call(
    "add_observations",
    { observations: [{ entityName: "Cafe Babage", contents: ["is closed on Mondays"] }] },
    { fails: /"Cafe Babage"[\s\S]*"Café Babbage"/ },
  );

  await second.close();
}
