import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("imports a file as one change, and reports the bad lines", async () => {
  const { data, failure, folder } = await circle();
  const line = { type: "entity", name: "Dee", entityType: "person", observations: ["from a file"] };
  await writeFile(join(folder, "old.jsonl"), `${JSON.stringify(line)}\nnonsense\n`);
  const imported = await data("import_graph", { path: "old.jsonl" });
  expect(imported).toMatchObject({ entities: 1, rejects: [{ line: 2, text: "nonsense" }] });
  await data("undo_memory_change", { change_id: imported.change_id });
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 3 } });
  expect(await failure("import_graph", { path: "missing.jsonl" })).toContain("missing.jsonl");
});
