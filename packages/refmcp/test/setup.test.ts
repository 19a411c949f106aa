import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const CURSOR = '{\n  // mine\n  "mcpServers": { "other": { "command": "uvx" } } // keep\n}\n';

let home = "";
let project = "";
beforeAll(async () => {
  const folder = await realpath(mkdtempSync(join(tmpdir(), "refmcp-home-")));
  home = join(folder, "home");
  project = join(folder, "project");
  for (const directory of [join(home, ".cursor"), join(home, ".codex"), project])
    await mkdir(directory, { recursive: true });
  await writeFile(join(home, ".cursor", "mcp.json"), CURSOR);
  return () => rmSync(folder, { recursive: true, force: true });
});

function refmcp(...args: string[]): Promise<{ code: unknown; text: string }> {
  const env = { PATH: process.env.PATH, HOME: home };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [BIN, ...args],
      { cwd: project, env, encoding: "utf8" },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, text: stdout + stderr }),
    );
  });
}

it("sets up this machine's hosts with the built servers, checks them, and undoes it", async () => {
  const set = await refmcp("setup", ".", "--sqlite", "app.db", "--yes");
  expect(set, set.text).toMatchObject({ code: 0 });
  expect(set.text).toMatch(/✓ refmcp starts and has \d\d tools\./);
  const args = [BIN, project, `--sqlite=${join(project, "app.db")}`];
  const text = readFileSync(join(home, ".cursor", "mcp.json"), "utf8");
  const { mcpServers } = JSON.parse(text.replace(/ *\/\/.*$/gm, ""));
  expect(mcpServers.refmcp).toEqual({ command: process.execPath, args });

  const single = await refmcp("setup", ".", "--servers", "git", "--host", "codex", "--yes");
  expect(single, single.text).toMatchObject({ code: 0 });
  expect(single.text).toMatch(/✓ git starts and has \d\d tools\./);

  const checked = await refmcp("doctor");
  expect(checked, checked.text).toMatchObject({ code: 0 });
  expect(checked.text).toContain("! git is also part of the entry for all servers.");

  const wrong = await refmcp("setup", ".", "--sqlit", "app.db", "--yes");
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.text).toContain("Did you mean --sqlite?");

  const undone = await refmcp("setup", "--undo", "--yes");
  expect(undone, undone.text).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, ".cursor", "mcp.json"), "utf8")).toBe(CURSOR);
});
