import { mkdtemp, open, realpath, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectInMemory } from "@refmcp/testing";
import { expect, it, onTestFinished } from "vitest";
import { server } from "../src/server.ts";
import { resistsSwaps } from "./swap-attacks.ts";

resistsSwaps({ reads: 20_000, writes: 10_000, timeoutMs: 600_000 });

it("answers at once and truncates: 300 MB, one line of 100 MB, a sparse file of 8 GB", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "refmcp-large-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const { client, close } = await connectInMemory(server, {
    args: [root, "--journal-dir", join(root, "journal")],
  });
  onTestFinished(close);
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
    return { text, failed: isError === true };
  };
  const block = Buffer.alloc(1024 * 1024, "0123456789abcde\n");
  const file = await open(join(root, "large.txt"), "w");
  for (let i = 0; i < 300; i++) await file.write(block);
  await file.close();
  const line = await open(join(root, "line.txt"), "w");
  const piece = Buffer.alloc(1024 * 1024, "x");
  for (let i = 0; i < 100; i++) await line.write(piece);
  await line.close();
  await writeFile(join(root, "sparse.txt"), "begin\n");
  await truncate(join(root, "sparse.txt"), 8 * 1024 ** 3);
  const before = process.memoryUsage().rss;
  for (const args of [
    { path: "large.txt" },
    { path: "large.txt", tail: 5 },
    { path: "line.txt" },
    { path: "large.txt", offset: 15_000_000, limit: 3 },
  ]) {
    const { text, failed } = await call("read_text_file", args);
    expect(failed, text).toBe(false);
    expect(text.length).toBeLessThanOrEqual(80_000);
  }
  // Whether or not 8 GB of zeros count as text, there is an answer.
  expect((await call("read_text_file", { path: "sparse.txt" })).text.length).toBeLessThanOrEqual(
    80_000,
  );
  expect((await call("get_file_info", { path: "sparse.txt" })).text).toContain(
    String(8 * 1024 ** 3),
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
});
