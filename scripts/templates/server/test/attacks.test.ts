import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { connectInMemory } from "@refmcp/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { server } from "../src/server.ts";
import { world } from "./fixture.ts";

let here: Awaited<ReturnType<typeof world>>;
beforeEach(async () => {
  here = await world();
});
afterEach(() => here.dispose());

/** Calls a tool as the fixture does, but for some arguments. */
async function call(
  name: string,
  args: Record<string, unknown>,
): Promise<{ text: string; failed: boolean }> {
  const { client, close } = await connectInMemory(server, { args: here.args });
  try {
    const result = await client.callTool({ name, arguments: { ...here.calls[name], ...args } });
    return { text: JSON.stringify(result), failed: result.isError === true };
  } finally {
    await close();
  }
}

// Every tool that takes a path, also those that you add.
const withPath = server.tools.filter(({ input }) => "path" in input.shape).map(({ name }) => name);

it.each(
  withPath.flatMap((name) =>
    ["../secret.md", "sub/../../secret.md", "leak.md", "/etc/passwd"].map(
      (path) => [name, path] as const,
    ),
  ),
)("%s refuses %s", async (name, path) => {
  const { text, failed } = await call(name, { path });
  expect(failed).toBe(true);
  expect(text).not.toContain(here.secret);
});

it("does not find what a symlink leads to", async () => {
  expect(await call("sample_find", { query: "secret-outside" })).toMatchObject({ failed: false });
  expect((await call("sample_find", { query: "secret-outside" })).text).not.toContain(here.secret);
});

it("does not read a file that would fill the memory", async () => {
  await truncate(join(here.folder, "meeting.md"), 2 ** 40);
  const { text, failed } = await call("sample_find", { path: "meeting.md" });
  expect(failed).toBe(true);
  expect(text).toContain("--max-file-bytes");
});
