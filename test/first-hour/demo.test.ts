import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
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

it("a demo passes if every result and every refusal is as expected", async () => {
  const texts = await played(async (server) => {
    await server.call("read_text_file", { path: "a.txt" }, "tea");
    await server.call("read_text_file", { path: "../b.txt" }, { fails: /b\.txt/ });
  });
  expect(texts).toMatchObject({ state: "passed", calls: 2 });
  const fields = await played(async (server) => {
    await server.call("search_nodes", search, { entities: [{ name: /^tea$/ }] });
  }, "memory");
  expect(fields).toMatchObject({ state: "passed", calls: 1 });
});

it.each<[string, Record<string, unknown>, unknown, RegExp]>([
  ["read_text_file", { path: "a.txt" }, "coffee", /^expected a text with 'coffee'\ngot {6}tea/m],
  ["read_text_file", { path: "none.txt" }, "tea", /^expected an answer: 'tea'\ngot .*none\.txt/m],
  ["read_text_file", { path: "a.txt" }, { fails: /outside/ }, /^expected a refusal that matches/m],
  ["read_text_file", { path: "a.txt" }, undefined, /states no expectation/],
])(
  "a demo fails, with expected and actual result: %s %j",
  async (tool, input, expected, reason) => {
    const outcome = await played((server) => server.call(tool, input, expected));
    expect(outcome).toMatchObject({ state: "failed", reason: expect.stringMatching(reason) });
  },
);

it("a demo fails if a check fails, and is skipped, with its reason, if it cannot run here", async () => {
  const failed = await played(async (_, { check }) => check("the file is gone", false));
  expect(failed).toMatchObject({ state: "failed", reason: "the file is gone" });
  const skipped = await played(async (_, { skip }) => skip("no tea"));
  expect(skipped).toMatchObject({ state: "skipped", reason: "no tea", calls: 0 });
});
