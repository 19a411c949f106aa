import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const SCRIPT = fileURLToPath(new URL("windows-setup.mjs", import.meta.url));
const CURSOR = '{\r\n\t"mcpServers": {\r\n\t\t"x": {"command": "y"} // keep\r\n\t}\r\n}\r\n';
const STORE_APP = "AppData/Local/Packages/Claude_pzs8sxrjxfjjc";
/** A path of this system in Wine. */
const drive = (file: string) => `Z:${file.replaceAll("/", "\\")}`;

it("sets up a made home in Node.js for Windows under Wine, and undoes it", async (ctx) => {
  const node = process.env.WINDOWS_NODE ?? "";
  ctx.skip(!existsSync(node), "needs WINDOWS_NODE, the path of node.exe for Windows");
  ctx.skip(spawnSync("wine", ["--version"]).status !== 0, "needs Wine");
  const folder = mkdtempSync(join(tmpdir(), "refmcp-wine-"));
  const env = {
    ...process.env,
    WINEPREFIX: join(folder, "prefix"),
    WINEDEBUG: "-all",
    NODE_SKIP_PLATFORM_CHECK: "1",
  };
  onTestFinished(() => {
    spawnSync("wineserver", ["-k"], { env });
    rmSync(folder, { recursive: true, force: true });
  });
  const home = join(folder, "home");
  for (const directory of [STORE_APP, "AppData/Roaming/Claude", ".cursor"])
    await mkdir(join(home, directory), { recursive: true });
  await writeFile(join(home, "AppData/Roaming/Claude/claude_desktop_config.json"), "{}\r\n");
  await writeFile(join(home, ".cursor/mcp.json"), CURSOR);

  const results = join(folder, "results.json");
  // Under Wine, Node.js cannot write to the pipes of this system.
  const command = `wine "$0" "$@" </dev/null >/dev/null 2>&1`;
  await promisify(execFile)(
    "sh",
    ["-c", command, node, drive(SCRIPT), drive(home), drive(results)],
    { env },
  );
  const [set, checked, undone] = JSON.parse(readFileSync(results, "utf8"));
  expect(set, set.text).toMatchObject({ code: 0 });
  expect(set.text).toContain(
    `Claude Desktop: ${drive(join(home, STORE_APP))}\\LocalCache\\Roaming\\Claude\\`,
  );
  expect(set.text).toMatch(/^✓ Claude Desktop: .* lists \d\d tools\./m);
  expect(checked, checked.text).toMatchObject({ code: 0 });
  expect(undone, undone.text).toMatchObject({ code: 0 });
  const cursor = readFileSync(join(home, ".cursor/mcp.json"), "utf8");
  expect(cursor.replace(/\s/g, "")).toBe(CURSOR.replace(/\s/g, ""));
});
