import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectInMemory } from "@refmcp/testing";
import { expect, it, vi } from "vitest";
import { server } from "../src/server.ts";

it("a file that another program still writes to is reported in the next answer of a running server", async () => {
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
