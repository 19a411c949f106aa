import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { talk } from "./session.ts";

it("a client that asks for log messages learns which statement was stopped", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-sqlite-log-"));
  await writeFile(join(folder, "a.db"), "");
  const { connected, call, close } = await talk(["--db-path", join(folder, "a.db")], {
    era: "legacy",
  });
  try {
    const messages: unknown[] = [];
    connected.client.setNotificationHandler("notifications/message", ({ params }) => {
      messages.push(params);
    });
    await connected.client.setLoggingLevel("warning");
    const sql =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    expect(await call("read_query", { sql, timeout_ms: 300 })).toMatchObject({
      isError: true,
      text: expect.stringContaining("was stopped"),
    });
    expect(messages).toEqual([
      { level: "warning", data: expect.stringContaining("The statement was stopped after 300 ms") },
    ]);
  } finally {
    await close();
    await rm(folder, { recursive: true, force: true });
  }
});
