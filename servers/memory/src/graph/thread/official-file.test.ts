import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OfficialFile } from "./official-file.ts";

it("reports each change of the file once, and looks once a minute", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-official-"));
  try {
    const path = join(folder, "memory.jsonl");
    await writeFile(path, "{}\n");
    const file = new OfficialFile(path, "2026-01-02", 0);
    await file.remember();
    expect(await file.look(60_000)).toBeUndefined();
    await appendFile(path, "{}\n");
    expect(await file.look(119_999)).toBeUndefined();
    expect(await file.look(120_000)).toContain(
      `${path} has changed since it was imported on 2026-01-02`,
    );
    expect(await file.look(180_000)).toBeUndefined();
    await appendFile(path, "{}\n");
    expect(await file.look(240_000)).toContain("has changed");
    await rm(path);
    expect(await file.look(300_000)).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
