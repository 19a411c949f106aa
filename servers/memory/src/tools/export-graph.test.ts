import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { circle, session } from "../../test/session.ts";

it("writes every format to a new file and overwrites none", async () => {
  const { data, failure, folder } = await circle();
  for (const [format, begins] of [
    ["jsonl", '{"type":"entity","name":"Ada"'],
    ["graphml", "<?xml"],
    ["mermaid", "flowchart LR"],
    ["svg", "<svg "],
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
