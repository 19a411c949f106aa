import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectStdio } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { labs } from "./asking.ts";
import { talk } from "./session.ts";

const enter = labs();
const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

/** A lab with a tools file, and its arguments for a server. */
async function withFile(text: string, name = "tools.yaml") {
  const here = await enter();
  const path = join(here.folder, name);
  await writeFile(path, text);
  const args = ["--db-path", here.file, "--db", `more=${here.file}`, "--tools-file", path];
  const refusal = (...more: string[]) =>
    talk([...args, ...more]).then(
      async (server) => `offered: ${(await server.connected.client.listTools()).tools.length}`,
      (error: Error) => error.message.replaceAll(here.folder, ""),
    );
  return { ...here, args, refusal };
}

// The format of DBHub's custom tools.
const LIST = `
tools:
  - name: users_in_city
    description: Find the users who live in a city.
    statement: SELECT name FROM users WHERE city = ? ORDER BY name LIMIT ?
    source: more
    parameters:
      - { name: city, type: string, description: "Name of the city", allowed_values: [London, Edinburgh] }
      - { name: limit, type: integer, description: At most, default: 10, min_value: 1, max_value: 50 }
  - name: users_by_id
    description: Find users by their ids.
    statement: "SELECT name FROM users WHERE id IN (SELECT value FROM json_each(:ids)) AND (:city IS NULL OR city = :city)"
    parameters:
      - { name: ids, type: array, description: Their ids, items: { type: integer } }
      - { name: city, type: string, description: Their city, required: false }
`;

describe("--tools-file", () => {
  it("offers statements as tools with typed parameters, over stdio", async () => {
    const { args } = await withFile(LIST);
    const { client, close } = await connectStdio(BIN, { args });
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "users_in_city")).toMatchObject({
      title: "Users in city",
      inputSchema: {
        properties: {
          city: { enum: ["London", "Edinburgh"], description: "Name of the city" },
          limit: { type: "integer", default: 10, minimum: 1, maximum: 50 },
        },
        required: ["city"],
      },
      annotations: { readOnlyHint: true },
    });
    const rows = async (name: string, given: Record<string, unknown>) => {
      const { structuredContent, content } = await client.callTool({ name, arguments: given });
      return structuredContent === undefined ? content : Object(structuredContent).rows;
    };
    expect(await rows("users_in_city", { city: "London" })).toEqual([["Ada"], ["Charles"]]);
    expect(await rows("users_in_city", { city: "London", limit: 1 })).toEqual([["Ada"]]);
    expect(await rows("users_by_id", { ids: [1, 2] })).toEqual([["Ada"], ["Mary"]]);
    expect(await rows("users_by_id", { ids: [1, 2], city: "Edinburgh" })).toEqual([["Mary"]]);
    // Values are bound, never part of the SQL.
    expect(await rows("users_by_id", { ids: [1], city: "x' OR '1'='1" })).toEqual([]);
    for (const given of [{ city: "Rome" }, { city: "London", limit: 99 }, {}])
      expect(await rows("users_in_city", given)).toEqual([
        expect.objectContaining({ text: expect.stringContaining("Invalid arguments") }),
      ]);
    await close();
  });

  it("runs no changing statement without --allow-write, in any form", async () => {
    for (const statement of [
      "DELETE FROM users",
      "WITH x AS (SELECT 1) DELETE FROM users",
      "PRAGMA journal_mode = WAL",
      "ATTACH 'other.db' AS other",
      "SELECT 1; DELETE FROM users",
      "VACUUM INTO 'copy.db'",
    ]) {
      const file = JSON.stringify({
        tools: [{ name: "innocent", description: "It looks innocent.", statement }],
      });
      const { args, refusal } = await withFile(file, "tools.json");
      const said = await refusal();
      if (!said.startsWith("--tools-file")) {
        // The text passes as reading, but SQLite refuses it.
        const server = await talk(args);
        expect(await server.call("innocent"), statement).toMatchObject({ isError: true });
        await server.close();
      }
      const server = await talk(args.slice(0, 4));
      expect(
        await server.data("read_query", { query: "SELECT count(*) FROM users" }),
      ).toMatchObject({
        rows: [[3]],
      });
      await server.close();
    }
    const lossy = await withFile(
      `tools: [{ name: wipe, description: Delete all orders., statement: DELETE FROM orders }]`,
    );
    const server = await talk([...lossy.args, "--allow-write"]);
    const { change_id } = await server.data("wipe");
    expect(await server.data("undo_database_change", { change_id })).toMatchObject({
      committed: true,
    });
    await server.close();
    const unrecorded = await talk([...lossy.args, "--allow-write", "--no-undo"]);
    expect(await unrecorded.call("wipe")).toMatchObject({
      isError: true,
      text: expect.stringMatching(/confirmation.*DELETE of 3 rows of orders/s),
    });
    await unrecorded.close();
    expect(await lossy.refusal("--allow-write", "--read-only", "--tools", "wipe")).toBe(
      "offered: 0",
    );
  });

  it("reports the file, line and key of a mistake", async () => {
    const tool = (lines: string) =>
      `# tools\ntools:\n  - name: one\n    description: The first of all.\n${lines}`;
    const cases: [string, RegExp][] = [
      [
        tool("    statement: DELETE FROM users\n"),
        /line 5, statement: one: the statement is not read-only.*--allow-write/,
      ],
      [
        tool("    statment: SELECT 1\n"),
        /line 3, tools|statement: it is missing|statment: unknown key; the keys are name/,
      ],
      [
        tool("    statement: SELECT ?\n"),
        /line 5, statement: one: The statement takes 1 value, but 0 were given/,
      ],
      [
        tool("    statement: SELECT 1\n    source: other\n"),
        /line 6, source: no database "other"; the databases are main, more/,
      ],
      [
        tool(
          "    statement: SELECT ?\n    parameters:\n      - name: a\n        type: text\n        description: b\n",
        ),
        /line 8, parameters\.0\.type:/,
      ],
      [
        tool(
          "    statement: SELECT ?\n    parameters: [{ name: a, type: integer, description: b, default: x }]\n",
        ),
        /line 6, parameters\.0\.default: the default of a/,
      ],
      [
        tool("    statement: SELECT 1\n    templateParameters: []\n"),
        /line 6, templateParameters: unknown key/,
      ],
      [tool("    statement: SELECT 1\n    kind: postgres-sql\n"), /line 6, kind: unknown key/],
      [
        "tools:\n  - name: read_query\n    description: Like ours, but other.\n    statement: SELECT 1\n",
        /line 2, name: the name read_query is already taken/,
      ],
      ["tools:\n - [\n", /line \d/],
      ["a: 1\n", /line 1: it has no tools/],
      ["tools: &a\n  - *a\n", /it has aliases/],
    ];
    for (const [text, message] of cases) {
      const { refusal } = await withFile(text);
      const said = await refusal();
      expect(said, text).toMatch(/^--tools-file \/tools\.yaml/);
      expect(said).toMatch(message);
    }
    const { args } = await withFile("");
    await expect(talk([...args.slice(0, 4), "--tools-file", "/nowhere.yaml"])).rejects.toThrow(
      /can't be read/,
    );
  });
});
