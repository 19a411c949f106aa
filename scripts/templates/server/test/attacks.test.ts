import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connected, connectInMemory, type Era } from "@refmcp/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { server } from "../src/server.ts";

const SECRET = "TOP-SECRET-OUTSIDE";
let top = "";
let folder = "";
const open: Connected[] = [];

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-sample-attacks-")));
  folder = join(top, "notes");
  await mkdir(folder);
  await writeFile(join(top, "outside.md"), SECRET);
  await writeFile(join(folder, "note.md"), "one line\nanother line\n");
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await rm(top, { recursive: true, force: true });
});

describe.each<Era>(["legacy", "modern"])("in the %s era", (era) => {
  /** Calls sample_find; its text, and whether it failed. */
  async function find(args: Record<string, unknown>): Promise<{ text: string; failed: boolean }> {
    const connected = await connectInMemory(server, { era, args: [folder] });
    open.push(connected);
    const result = await connected.client.callTool({ name: "sample_find", arguments: args });
    return { text: JSON.stringify(result.content), failed: result.isError === true };
  }

  it.each(["../outside.md", "notes/../../outside.md"])("refuses %s", async (path) => {
    const { text, failed } = await find({ query: "SECRET", path });
    expect(failed).toBe(true);
    expect(text).not.toContain(SECRET);
  });

  it("follows no link that leads out, named or found", async () => {
    await symlink(join(top, "outside.md"), join(folder, "link.md"));
    expect(await find({ query: "SECRET" })).toEqual({
      text: '[{"type":"text","text":"{\\"lines\\":[]}"}]',
      failed: false,
    });
    const named = await find({ query: "SECRET", path: "link.md" });
    expect(named.failed).toBe(true);
    expect(named.text).not.toContain(SECRET);
  });

  it("does not read a note that would fill the memory", async () => {
    await truncate(join(folder, "note.md"), 2 ** 40);
    const { text, failed } = await find({ query: "line", path: "note.md" });
    expect(failed).toBe(true);
    expect(text).toContain("--max-note-bytes");
  });

  it("refuses the cursor of another search, and one that was made up", async () => {
    const { text } = await find({ query: "line", limit: 1 });
    const cursor = /next_cursor\W+([\w-]+)/.exec(text)?.[1];
    expect(cursor).toBeDefined();
    expect((await find({ query: "line", limit: 1, cursor })).failed).toBe(false);
    expect((await find({ query: "other", cursor })).text).toContain("belongs to another call");
    expect((await find({ query: "line", cursor: "made up" })).text).toContain("damaged");
  });
});
