import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { connectInMemory, connectStdio } from "@refmcp/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openNodes } from "../src/graph/read/nodes.ts";
import { openPostgresStore } from "../src/graph/store/postgres-store.ts";
import { storeOfCall } from "../src/graph/store/store.ts";
import { createEntities } from "../src/graph/write/entities.ts";
import { server } from "../src/server.ts";
import { BIN } from "./process.ts";

const fact = (name: string, observations: string[] = []) => ({
  entities: [{ name, entityType: "t", observations }],
});

/** Calls memory_stats of a server in this process and returns its text. */
async function statsOf(store: string): Promise<string> {
  const { client, close } = await connectInMemory(server, {
    args: ["--store", store, "--toolsets", "all"],
  });
  const result = await client.callTool({ name: "memory_stats", arguments: {} });
  await close();
  const [block] = result.content;
  return block?.type === "text" ? block.text : "";
}

describe("PostgreSQL", () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  it("ends the statements of cancelled calls, even if all connections wait for a lock", async () => {
    const store = await openPostgresStore(postgres.url, "s");
    // Two connections: a transaction keeps its first view of pg_stat_activity.
    const locking = new Client({ connectionString: postgres.url });
    const watching = new Client({ connectionString: postgres.url });
    try {
      await locking.connect();
      await watching.connect();
      const stats = () => store.read((reader) => reader.counts());
      await stats();
      const waiting = async () =>
        (
          await watching.query(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'refmcp-memory' AND wait_event_type = 'Lock'",
          )
        ).rowCount;
      await locking.query("BEGIN; LOCK TABLE refmcp_memory_s.entities IN ACCESS EXCLUSIVE MODE");
      const controller = new AbortController();
      const entities = fact("never").entities;
      const call = storeOfCall(store, controller.signal);
      const facts = { on_conflict: "skip", action: "create_entities" } as const;
      const calls = [
        createEntities(call, entities, facts),
        ...["a", "b", "c"].map((name) => openNodes(call, { names: [name], budget: 1_000 })),
      ];
      const ended = Promise.allSettled(calls);
      await expect.poll(waiting).toBe(calls.length);
      controller.abort(new Error("cancelled"));
      // The lock is still held, so only the cancellation can end them.
      for (const result of await ended)
        expect(result).toMatchObject({ status: "rejected", reason: { message: "cancelled" } });
      expect(await waiting()).toBe(0);
      await locking.query("ROLLBACK");
      expect(await stats()).toMatchObject({ entities: 0 });
    } finally {
      await locking.end();
      await watching.end();
      await store.close();
    }
  });

  it("serves two processes from one graph, and never shows the password", async () => {
    const first = await connectStdio(BIN, { args: ["--store", postgres.url, "--toolsets", "all"] });
    const second = await connectStdio(BIN, {
      era: "legacy",
      env: { REFMCP_MEMORY_STORE: postgres.url },
    });
    await first.client.callTool({
      name: "create_entities",
      arguments: fact("shared", ["a NUL \0 inside"]),
    });
    const result = await second.client.callTool({
      name: "open_nodes",
      arguments: { names: ["shared"] },
    });
    expect(result.structuredContent).toMatchObject({
      entities: [{ observations: ["a NUL \ufffd inside"] }],
    });
    const stats = await first.client.callTool({ name: "memory_stats", arguments: {} });
    expect(stats.structuredContent).toMatchObject({ total: { entities: 1 } });
    const { password } = new URL(postgres.url);
    await first.close();
    await second.close();
    expect(JSON.stringify([first.received, second.received]) + first.stderr()).not.toContain(
      password,
    );
    const wrong = postgres.url.replace(password, "wrong-secret");
    const refused = await statsOf(wrong);
    expect(refused).toMatch(/refused the connection \(user or password\)/);
    expect(refused).not.toContain("wrong-secret");
    await postgres.stop();
    const gone = await statsOf(postgres.url);
    expect(gone).toMatch(/is unreachable \(ECONNREFUSED\)/);
  });

  it("refuses an invalid URL without repeating it", async () => {
    const answer = await statsOf("mysql://u:topsecret@h/d");
    expect(answer).toContain("--store is not a PostgreSQL URL");
    expect(answer).not.toContain("topsecret");
  });
});
