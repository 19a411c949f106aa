import { startHttp } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { serverBin, serverWorld } from "../servers.ts";
import { ask, begin, open, until, useFixture } from "./tasks.ts";

useFixture();

describe("a query of PostgreSQL that became a task", () => {
  it("is stopped in the database when its client cancels it", async () => {
    const world = await serverWorld("postgres");
    open.push(() => world.dispose());
    const args = [...world.args, "--task-after-ms", "100"];
    const server = await startHttp(serverBin("postgres"), { ...world, args });
    open.push(() => server.stop("SIGKILL"));
    const running = async (): Promise<number> => {
      const sql =
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(47)%' AND pid <> pg_backend_pid()";
      const { result } = await ask(server.url, "tools/call", { name: "query", arguments: { sql } });
      return Object(result).structuredContent.rows[0][0];
    };
    const taskId = await begin(server.url, "query", { sql: "SELECT pg_sleep(47)" });
    await expect.poll(() => running()).toBe(1);
    await ask(server.url, "tasks/cancel", { taskId });
    await expect.poll(() => running()).toBe(0);
    await until(server.url, taskId, "cancelled");
  });
});
