import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Harness, play } from "../../scripts/lib/demo.mjs";

type Session = Awaited<ReturnType<Harness["connect"]>>;

/** Plays a demo of the filesystem server on a folder with one file, a.txt. */
async function played(demo: (server: Session, harness: Harness) => Promise<unknown>) {
  return play("filesystem", {
    title: "is a test.",
    async demo(harness) {
      await writeFile(join(harness.folder, "a.txt"), "tea\n");
      await demo(await harness.connect("filesystem", { args: [harness.folder] }), harness);
    },
  });
}
const search = { path: ".", pattern: "tea" };

describe("a demo passes", () => {
  it("where every answer and every refusal is the expected one", async () => {
    const { state, reason, calls } = await played(async (server) => {
      await server.call("read_text_file", { path: "a.txt" }, "tea");
      await server.call("search_text", search, { total_files: 1, files: [{ path: /a\.txt$/ }] });
      await server.call("search_text", search, { files: (files: unknown[]) => files.length === 1 });
      await server.call("read_text_file", { path: "../b.txt" }, { fails: /b\.txt/ });
    });
    expect([state, reason, calls]).toEqual(["passed", undefined, 4]);
  });
});

describe("a demo fails, and says what was expected and what came,", () => {
  function severalFiles(files: readonly unknown[]): boolean {
    return files.length > 1;
  }
  it.each<[string, Record<string, unknown>, unknown, RegExp]>([
    ["read_text_file", { path: "a.txt" }, "coffee", /^expected a text with 'coffee'\ngot {6}tea/m],
    ["search_text", search, { total_files: 2 }, /^expected the answer\.total_files to be 2\ngot {6}1$/m],
    ["search_text", search, { files: [] }, /^expected the answer\.files to be \[\]\ngot {6}\[ \{/m],
    ["search_text", search, { files: severalFiles }, /^expected the answer\.files to be several files\n/m],
    ["search_text", search, { no_such: "x" }, /^expected the answer\.no_such to be 'x'\ngot {6}undefined$/m],
    ["read_text_file", { path: "none.txt" }, "tea", /^expected an answer: 'tea'\ngot {6}.*none\.txt/m],
    [
      "read_text_file",
      { path: "a.txt" },
      { fails: /outside/ },
      /^expected a refusal that matches \/outside\//m,
    ],
    ["read_text_file", { path: "none.txt" }, { fails: /outside/ }, /^got {6}.*none\.txt/m],
    ["read_text_file", { path: "a.txt" }, undefined, /states no expectation/],
    ["no_such_tool", {}, {}, /^expected an answer\ngot {6}.*no_such_tool/m],
  ])("%s %j %j", async (tool, given, expected, reason) => {
    const outcome = await played((server) => server.call(tool, given, expected));
    expect(outcome.state).toBe("failed");
    expect(outcome.reason).toMatch(reason);
  });

  it("where a check does not hold, or the demo itself breaks", async () => {
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
