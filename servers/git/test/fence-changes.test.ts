import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commitFiles, emptyRepository, git, type Scratch, scratch, write } from "./fixture.ts";
import { ALL_TOOLS } from "./world.ts";

// What a change may never lose or leave undone without a word, as a client sees it.
let place: Scratch;
let server: Connected;
let counter = 0;
/** The last question that the user was asked. */
let question = "";

beforeAll(async () => {
  place = scratch();
  server = await connectStdio(join(import.meta.dirname, "../dist/bin.js"), {
    args: [place.folder, ...ALL_TOOLS],
    elicit: ({ message }) => {
      question = message;
      return { action: "accept", content: { confirm: true } };
    },
  });
});
afterAll(async () => {
  await server?.close();
  place.dispose();
});

/** Calls a tool; returns the data of its answer, or its text. */
async function call(tool: string, root: string, args: object = {}) {
  const { structuredContent, content } = await server.client.callTool({
    name: tool,
    arguments: { repo_path: root, ...args },
  });
  const text = JSON.stringify(structuredContent ?? content);
  return { text, data: (structuredContent ?? {}) as Record<string, unknown> };
}

function repository(files: Readonly<Record<string, string>> = { "a.txt": "a\n" }): string {
  const root = emptyRepository(place.path(`repo-${counter++}`));
  commitFiles(root, "First", files);
  return root;
}

describe("a file with more than a million changed lines", () => {
  const HUGE = "x\n".repeat(1_100_000);

  it("does not keep git_add and git_reset from other files", async () => {
    const root = repository({ "dump.sql": "x\n", "small.txt": "a\n" });
    write(root, "dump.sql", HUGE);
    write(root, "small.txt", "b\n");
    await call("git_add", root, { files: ["small.txt"] });
    expect(git(root, "diff", "--cached", "--name-only")).toBe("small.txt\n");
    git(root, "add", "dump.sql");
    await call("git_reset", root, { files: ["small.txt"] });
    expect(git(root, "diff", "--cached", "--name-only")).toBe("dump.sql\n");
    await call("git_reset", root);
    expect(git(root, "diff", "--cached", "--name-only")).toBe("");
  });
});

describe("git_clean", () => {
  it("says which files it did not delete: those whose names are not UTF-8", async () => {
    const root = repository();
    write(root, "new.txt", "new\n");
    writeFileSync(Buffer.from(`${root}/caf\xe9`, "latin1"), "coffee\n");
    const { data } = await call("git_clean", root);
    expect(data).toMatchObject({ files: ["new.txt"], count: 1, done: "Deleted 1 untracked file." });
    expect(JSON.stringify(data.notes)).toContain("caf\\\\351");
    expect(question).toContain("Delete 1 untracked file ");
    expect(readdirSync(root)).toHaveLength(3);
    expect((await call("git_clean", root)).text).toContain("caf\\\\351");
  });
});
