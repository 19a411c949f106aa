import { writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  });
  await data("undo_memory_change", { change_id: imported.change_id });
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 3, observations: 3 } });
  expect(await failure("import_graph", { path: "missing.jsonl" })).toContain("missing.jsonl");
  expect(await failure("import_graph")).toContain("Neither path nor text is given.");
});
