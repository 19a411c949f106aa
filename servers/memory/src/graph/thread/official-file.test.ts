import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectInMemory } from "@refmcp/testing";
import { expect, it, vi } from "vitest";
import { server } from "../../server.ts";
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
    expect(await file.look(120_000)).toContain(`${path} has changed since it was imported on 2026-01-02`);
    expect(await file.look(180_000)).toBeUndefined();
    await appendFile(path, "{}\n");
    expect(await file.look(240_000)).toContain("has changed");
    await rm(path);
    expect(await file.look(300_000)).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it("is reported in the next answer of a running server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-official-"));
  const path = join(folder, "memory.jsonl");
  const line = (name: string) =>
    `${JSON.stringify({ type: "entity", name, entityType: "t", observations: [] })}\n`;
  await writeFile(path, line("Ada"));
  const { client, close } = await connectInMemory(server, { args: ["--file", path] });
  const notice = async () => {
    const { structuredContent } = await client.callTool({
      name: "search_nodes",
      arguments: { query: "Ada" },
    });
    return Reflect.get(Object(structuredContent), "notice");
  };
  const clock = vi.spyOn(performance, "now");
  try {
    expect(await notice()).toContain("Imported 1 entity");
    await appendFile(path, line("Bo"));
    const later = performance.now() + 61_000;
    clock.mockReturnValue(later);
    expect(await notice()).toContain(`${path} has changed since it was imported`);
    clock.mockReturnValue(later + 61_000);
    expect(await notice()).toBeUndefined();
  } finally {
    clock.mockRestore();
    await close();
    await rm(folder, { recursive: true, force: true });
  }
});
