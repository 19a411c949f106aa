import { existsSync } from "node:fs";
import { Client } from "pg";
import { expect, it } from "vitest";
import { startPostgres } from "./start.ts";

async function answer(url: string, statement: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: unknown }>(statement);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}

it("creates empty UTF-8 databases and leaves nothing behind", async () => {
  const postgres = await startPostgres();
  expect(await answer(postgres.url, "SELECT 'grün' || chr(128578) AS answer")).toBe("grün🙂");
  const directory = "SELECT current_setting('data_directory') AS answer";
  const data = String(await answer(postgres.url, directory));
  const second = await postgres.createDatabase();
  await answer(second, "CREATE TABLE only_there (x int)");
  expect(await answer(postgres.url, "SELECT to_regclass('only_there') AS answer")).toBeNull();
  await postgres.stop();
  await postgres.stop();
  await expect(answer(postgres.url, "SELECT 1 AS answer")).rejects.toThrow();
  expect(existsSync(data)).toBe(false);
});
