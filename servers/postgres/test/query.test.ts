import { describe, expect, it } from "vitest";
import { labFor, talk, talkFor } from "./session.ts";

const world = labFor(
  "CREATE TABLE users AS SELECT n AS id, 'user ' || n AS name FROM generate_series(1, 500) n; CREATE SCHEMA sales; CREATE TABLE sales.orders (x int); CREATE VIEW u AS SELECT 1 AS citi",
);
const server = talkFor(() => ["--url", world.url, "--db", `other=${world.url}`]);

describe("query", () => {
  it.each([
    [
      "SELECT * FROM user_s",
      /"user_s" does not exist .*: "SELECT \* FROM »user_s"\)\. Did you mean users\?\npg_d/,
    ],
    ["SELECT * FROM ordrs", /Did you mean sales\.orders\?/],
    ["SELECT nam FROM users", /"nam" does not exist.*(mean name\?|the column "users.name")/s],
    ["SELECT uper(name) FROM users", /42883.*Did you mean upper\?/],
    // The alias is also the name of a view, which is not meant.
    ["SELECT u.city FROM users u", /^(?!.*Did you mean).*column u\.city does not exist/s],
    ["SELECT 'x'::int", /invalid input syntax for type integer: "x" \(SQLSTATE 22P02, position 8/],
    ["DELETE FROM users", /DELETE is not a read-only statement.*--allow-write/s],
  ])("explains %s", async (sql, message) => {
    expect(await server.refused("query", { sql })).toMatch(message);
  });

  it("queries another database by name, and lists the names after a typo", async () => {
    expect((await server.data("query", { sql: "SELECT 1", database: "other" })).rows).toEqual([
      [1],
    ]);
    const { text } = await server.call("query", { sql: "SELECT 1", database: "othr" });
    expect(text).toMatch(/No database othr\. Did you mean other\?\nConfigured: main, other/);
  });

  it("without a database lists its tools and says how to configure one", async () => {
    const bare = await talk([]);
    const { client } = bare.connected;
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    expect((await client.listResources()).resources).toEqual([]);
    const { text } = await bare.call("query", { sql: "SELECT 1" });
    expect(text).toMatch(/No database is configured\.\n.*DATABASE_URL=postgres.*--embedded/);
    await bare.close();
  });

  it("never shows a password, no matter what is wrong with the connection", async () => {
    const wrong = new URL(world.url);
    wrong.password = "hunter2%40secret";
    const gone = new URL(world.url);
    gone.pathname = "/nowhere";
    gone.password = world.password;
    for (const url of [
      wrong.href,
      gone.href,
      "postgres://me:hunter2@secret@nowhere.invalid/db",
      "postgres://me:hunter2secret@127.0.0.1:1/db?sslmode=verify-full",
      "postgres://me:hunter2secret@127.0.0.1:1/db?nonsense=hunter2secret",
      "host=127.0.0.1 port=1 password=hunter2secret user=me dbname='broken",
      "postgres://me:hunter2secret@127.0.0.1:99999/db",
    ]) {
      const failing = await talk(["--url", url, "--log-level", "debug"]);
      const text = await failing.refused("query", { sql: "SELECT 1" });
      for (const said of [text, failing.connected.stderr()]) {
        expect(said).not.toMatch(/hunter2|secret/);
        expect(said).not.toContain(world.password);
      }
      await failing.close();
    }
  });
});
