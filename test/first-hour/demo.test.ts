import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Harness, play, type Session } from "../../scripts/lib/demo.mjs";

/** Plays a demo of the memory server, whose answers have fields, with one entity, or of the filesystem server with one file. */
async function played(
  demo: (server: Session, harness: Harness) => Promise<unknown>,
  name: "filesystem" | "memory" = "filesystem",
) {
  return play(name, {
    title: "is a test.",
    async demo(harness) {
      const { folder } = harness;
      await writeFile(join(folder, "a.txt"), "tea\n");
      const graph =
        '{"type":"entity","name":"tea","entityType":"drink","observations":["green"]}\n';
      await writeFile(join(folder, "memory.jsonl"), graph);
      const args = { filesystem: [folder], memory: ["--file", join(folder, "memory.jsonl")] };
      await demo(await harness.connect(name, { args: args[name] }), harness);
    },
  });
}
const search = { query: "tea" };

describe("a demo passes", () => {
  it("if every result and every refusal is as expected", async () => {
    const texts = await played(async (server) => {
      await server.call("read_text_file", { path: "a.txt" }, "tea");
      await server.call("read_text_file", { path: "../b.txt" }, { fails: /b\.txt/ });
    });
    expect(texts).toMatchObject({ state: "passed", calls: 2 });
    const fields = await played(async (server) => {
      await server.call("search_nodes", search, { total: 1, entities: [{ name: /^tea$/ }] });
      await server.call("search_nodes", search, {
        entities: (found: unknown[]) => found.length === 1,
      });
    }, "memory");
    expect(fields).toMatchObject({ state: "passed", calls: 2 });
  });
});

describe("a demo fails, with expected and actual result,", () => {
  function severalEntities(entities: readonly unknown[]): boolean {
    return entities.length > 1;
  }
  const ROWS: [string, Record<string, unknown>, unknown, RegExp][] = [
    ["read_text_file", { path: "a.txt" }, "coffee", /^expected a text with 'coffee'\ngot {6}tea/m],
    ["search_nodes", search, { total: 2 }, /^expected the answer\.total to be 2\ngot {6}1$/m],
    [
      "search_nodes",
      search,
      { entities: [] },
      /^expected the answer\.entities to be \[\]\ngot {6}\[/m,
    ],
    [
      "search_nodes",
      search,
      { entities: severalEntities },
      /^expected the answer\.entities to be several entities\n/m,
    ],
    [
      "search_nodes",
      search,
      { no_such: "x" },
      /^expected the answer\.no_such to be 'x'\ngot {6}undefined$/m,
    ],
    [
      "read_text_file",
      { path: "none.txt" },
      "tea",
      /^expected an answer: 'tea'\ngot {6}.*none\.txt/m,
    ],
    [
      "read_text_file",
      { path: "a.txt" },
      { fails: /outside/ },
      /^expected a refusal that matches \/outside\//m,
    ],
    ["read_text_file", { path: "none.txt" }, { fails: /outside/ }, /^got {6}.*none\.txt/m],
    ["read_text_file", { path: "a.txt" }, undefined, /states no expectation/],
  ];
  it.each(["filesystem", "memory"] as const)("of the %s server", async (name) => {
    const reasons: string[] = [];
    const rows = ROWS.filter(([tool]) => (tool === "search_nodes") === (name === "memory"));
    const outcome = await played(async (server) => {
      // A demo ends with its first failure; here each is made.
      for (const [tool, given, expected] of rows)
        await server.call(tool, given, expected).then(
          () => reasons.push("nothing failed"),
          ({ message }: Error) => reasons.push(message),
        );
      await server.call("no_such_tool", {}, {});
    }, name);
    expect(reasons).toEqual(rows.map(([, , , reason]) => expect.stringMatching(reason)));
    expect(outcome.state).toBe("failed");
    expect(outcome.reason).toMatch(/^expected an answer\ngot {6}.*no_such_tool/m);
  });

  it("if a check fails, or the demo itself throws", async () => {
    expect(await played(async (_, { check }) => check("the file is gone", false))).toMatchObject({
      state: "failed",
      reason: "the file is gone",
    });
    expect(await played(() => Promise.reject(new Error("disk full")))).toMatchObject({
      state: "failed",
      reason: "disk full",
    });
  });
});

it("a demo that cannot run here is skipped, with its reason", async () => {
  expect(await played(async (_, { skip }) => skip("no tea"))).toMatchObject({
    state: "skipped",
    reason: "no tea",
    calls: 0,
  });
});
