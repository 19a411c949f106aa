import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { MemoryLocation } from "../src/graph/thread/location.ts";
import { Memory } from "../src/graph/thread/memory.ts";
import { startServer } from "./process.ts";

let folder = "";
let engine: Memory | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-memory-engine-"));
});
afterEach(async () => {
  await engine?.close();
  engine = undefined;
  await rm(folder, { recursive: true, force: true });
});

function open(): Memory {
  const location: MemoryLocation = {
    kind: "sqlite",
    space: "default",
    isDefault: false,
    file: join(folder, "memory.db"),
  };
  engine = new Memory(
    location,
    createPathGuard(new DirectoryAllowlist({ configured: [], mode: "off" })),
  );
  return engine;
}

const lines = (count: number) =>
  Buffer.from(
    Array.from({ length: count }, (_, index) =>
      JSON.stringify({
        type: "entity",
        name: `e${index}`,
        entityType: "t",
        observations: ["a fact"],
      }),
    ).join("\n"),
  );

it("stops cancelled work, rolls it back, and continues", async () => {
  const one = open();
  const controller = new AbortController();
  let done = 0;
  const importing = one.run("importMemory", [lines(50_000), { action: "import_graph" }], {
    signal: controller.signal,
    progress: (items) => {
      done = items;
      controller.abort();
    },
  });
  await expect(importing).rejects.toMatchObject({ kind: "cancelled" });
  expect(done).toBeLessThan(50_000);
  expect((await one.run("memoryStats", ["default"])).total).toEqual({
    entities: 0,
    observations: 0,
    relations: 0,
  });
});

it("fails with the thread's error, and an internal error keeps its stack", async () => {
  const one = open();
  await expect(
    one.run("openNodes", [{ names: ["Nobody"], depth: 0, cursor: undefined, budget: 1_000 }]),
  ).rejects.toMatchObject({ kind: "not_found", code: "unknown_entity", hint: expect.any(String) });
  // @ts-expect-error The job does not take this argument.
  await expect(one.run("openNodes", [undefined])).rejects.toMatchObject({
    message: expect.stringContaining("TypeError"),
    stack: expect.stringContaining("graph"),
  });
});

it("answers a ping before an earlier call is done", async () => {
  const server = await startServer(["--file", join(folder, "memory.db")]);
  const order: string[] = [];
  await server.call("memory_stats", {});
  const importing = server
    .call("import_graph", { text: lines(10_000).toString() })
    .then(({ isError, text }) => order.push(isError ? text : "import"));
  const ping = server.request("ping", {}).then(() => order.push("ping"));
  await Promise.all([importing, ping]);
  expect(order).toEqual(["ping", "import"]);
  await server.stop();
});
