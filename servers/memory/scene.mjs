import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "remembers in one process what another one recalls.";

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ folder, say, connect }) {
  const official = join(folder, "memory.jsonl");
  const lines = [
    { type: "entity", name: "Ada", entityType: "person", observations: ["lives in London"] },
    { type: "entity", name: "Analytical Engine", entityType: "machine", observations: [] },
  ];
  await writeFile(official, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"type":"entity","na`);

  say("A memory of the official server, its last line cut off by a crash. It is imported and left as it is.");
  const first = await connect("memory", { era: "legacy", args: ["--file", official, "--root", folder] });
  await first.call("create_entities", {
    entities: [
      { name: "Café Babbage", entityType: "place", observations: ["opens at nine", "has the best tea"] },
    ],
  });
  await first.call("create_relations", {
    relations: [{ from: "Ada", to: "Café Babbage", relationType: "meets friends at" }],
  });
  await first.close();

  say("Another process, another protocol era: it is all there, and found without the accent.");
  const second = await connect("memory", { era: "modern", args: ["--file", official, "--root", folder] });
  await second.call("search_nodes", { query: "cafe tea" });
  await second.call("find_related", { name: "Ada" });

  say("What was deleted can be brought back, and a mistake is told what exists.");
  const { structuredContent } = await second.call("delete_entities", { entityNames: ["Café Babbage"] });
  await second.call("undo_memory_change", { change_id: structuredContent.change_id });
  await second.call("add_observations", {
    observations: [{ entityName: "Cafe Babage", contents: ["is closed on Mondays"] }],
  });

  say("And a picture, for people.");
  await second.call("export_graph", { format: "svg", path: "graph.svg" });
  await second.close();
}
