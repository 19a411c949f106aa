import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lab, lab } from "./lab.ts";
import { talk, talkToProcess } from "./session.ts";

let world: Lab;
let folder: string;
beforeAll(async () => {
  world = await lab(`CREATE TABLE users (id bigint PRIMARY KEY, name text, city text);
    INSERT INTO users VALUES (1, 'Ada', 'London'), (2, 'Mary', 'Edinburgh'), (3, 'Charles', 'London')`);
  folder = await mkdtemp(join(tmpdir(), "refmcp-tools-"));
});
afterAll(async () => {
  await world.dispose();
  await rm(folder, { recursive: true });
});

async function args(tools: object | string): Promise<string[]> {
  const path = join(folder, "tools.yaml");
  await writeFile(path, typeof tools === "string" ? tools : JSON.stringify({ tools: [tools] }));
  return ["--url", world.url, "--tools-file", path];
}
const facts = { name: "own", description: "A tool of this test." };

it("offers statements as tools with typed parameters, over stdio", async () => {
  const server = await talkToProcess(
    await args(`
tools:
  - name: users_in_cities
    source: main
    description: Find the users who live in cities.
    statement: SELECT name FROM users WHERE city = ANY($1) AND ($2::bigint IS NULL OR id > $2) ORDER BY id
    parameters:
      - { name: cities, type: array, items: { type: string }, description: Names of cities }
      - { name: after, type: integer, required: false, description: Only larger ids }
`),
  );
  expect(await server.data("users_in_cities", { cities: ["London"] })).toMatchObject({
    rows: [["Ada"], ["Charles"]],
  });
  expect(
    await server.data("users_in_cities", {
      cities: ["London", "x'; DROP TABLE users; --"],
      after: 1,
    }),
  ).toMatchObject({
    rows: [["Charles"]],
  });
  expect((await server.call("users_in_cities", { cities: "London" })).text).toMatch(
    /expected an array/,
  );
  await server.close();
});

it("changes data with --allow-write only, and asks before a loss", async () => {
  const change = {
    ...facts,
    statement: "UPDATE users SET city = $1 WHERE id = $2",
    parameters: [
      { name: "city", type: "string", description: "The city" },
      { name: "id", type: "integer", description: "The user" },
    ],
  };
  const server = await talk([...(await args(change)), "--allow-write"]);
  expect(await server.data("own", { city: "Bath", id: 2 })).toMatchObject({
    committed: true,
    results: [{ row_count: 1 }],
  });
  await server.close();
  const wiping = await talk([
    ...(await args({ ...facts, statement: "TRUNCATE users" })),
    "--allow-write",
  ]);
  expect(await wiping.call("own")).toMatchObject({
    isError: true,
    text: expect.stringContaining("TRUNCATE users (3 rows)"),
  });
  await wiping.close();
  expect(await world.admin("SELECT count(*)::int AS n FROM users")).toEqual([{ n: 3 }]);
});

it("refuses at start what the gates refuse, naming file, line and key", async () => {
  for (const [statement, message] of [
    [
      "DELETE FROM users",
      /line 1, statement: own: DELETE is not a read-only statement.*--allow-write/,
    ],
    ["WITH x AS (DELETE FROM users RETURNING 1) SELECT * FROM x", /DELETE is not a read-only/],
    ["SELECT 1; DROP TABLE users", /2 statements/],
    ["SELECT pg_read_file('/etc/passwd')", /pg_read_file/],
    ["SELECT * INTO kept FROM users", /INTO creates a table/],
    ["COPY users TO PROGRAM 'cat'", /not a read-only|COPY/],
    ["SELCT 1", /syntax error/],
    ["SELECT $2::int", /takes 2 values, but there are 0 parameters/],
  ] as const)
    await expect(args({ ...facts, statement }).then(talk), statement).rejects.toThrow(message);
  await expect(args({ ...facts, name: "query", statement: "SELECT 1" }).then(talk)).rejects.toThrow(
    /query is already taken/,
  );
  await expect(
    args({ ...facts, source: "other", statement: "SELECT 1" }).then(talk),
  ).rejects.toThrow(/no database "other"; the databases are main/);
});
