import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connectStdio } from "@refmcp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { BIN, textOf } from "./project.ts";

/** An entry without a directory, as `setup` writes it for hosts that report the open project. */

const base = realpathSync(mkdtempSync(join(tmpdir(), "refmcp-roots-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const env = { HOME: base, XDG_STATE_HOME: base, XDG_DATA_HOME: base, XDG_CONFIG_HOME: base };
const [first = "", second = ""] = ["first", "second"].map((name) => {
  mkdirSync(join(base, name));
  writeFileSync(join(base, name, "a.txt"), `Of the ${name}`);
  return join(base, name);
});
const rootOf = (folder: string) => ({ uri: pathToFileURL(folder).href });

type Connected = Awaited<ReturnType<typeof connectStdio>>;
async function read({ client }: Connected, folder: string): Promise<string> {
  const path = join(folder, "a.txt");
  return textOf(await client.callTool({ name: "read_text_file", arguments: { path } }));
}

describe.each(["legacy", "modern"] as const)("a %s client", (era) => {
  it("that opens a second project works there, and no longer in the first", async () => {
    const roots = [rootOf(first)];
    const connected = await connectStdio(BIN, { args: [], env, era, roots });
    expect(await read(connected, first)).toContain("Of the first");
    expect(await read(connected, second)).toContain("outside");
    roots.splice(0, 1, rootOf(second));
    if (era === "legacy") {
      await connected.client.sendRootsListChanged();
      expect(await read(connected, second)).toContain("Of the second");
      expect(await read(connected, first)).toContain("outside");
    }
    await connected.close();
    // Hosts start the entry again for another window.
    const other = await connectStdio(BIN, { args: [], env, era, roots });
    expect(await read(other, second)).toContain("Of the second");
    await other.close();
  });

  it("without roots is refused with what to set, and never gets the working directory", async () => {
    const connected = await connectStdio(BIN, { args: [], env, era });
    const { client } = connected;
    const calls = [
      { name: "read_text_file", arguments: { path: join(process.cwd(), "package.json") } },
      { name: "read_text_file", arguments: { path: "package.json" } },
      { name: "git_status", arguments: {} },
    ];
    for (const call of calls) {
      const answer = await client.callTool(call);
      expect(answer.isError, call.name).toBe(true);
      expect(textOf(answer)).toMatch(
        /start the server with a directory argument or --root, or open a folder in the client/i,
      );
    }
    await connected.close();
  });
});
