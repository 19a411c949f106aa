import { mkdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { BIN, makeHome } from "../../test/fixtures/setup-home.ts";
import { runDoctor } from "./doctor.ts";
import { runSetup } from "./setup.ts";
import { startAsHost } from "./start.ts";

const entry = (...args: string[]) => ({ command: process.execPath, args: [BIN, ...args] });
const servers = (all: object) => JSON.stringify({ mcpServers: all });

describe("runDoctor", () => {
  it("finds nothing wrong with what setup wrote", async () => {
    const { io, home, output } = await makeHome();
    await mkdir(path.join(home, ".cursor"));
    await mkdir(path.join(home, ".codex"));
    expect(await runSetup([io.cwd, "--yes"], io)).toBe(0);
    expect(await runDoctor([], io), output()).toBe(0);
    expect(output()).toContain("  ✓ refmcp starts and has 2 tools.");
    expect(output().match(/ {2}✓ refmcp starts/g)).toHaveLength(2);
  });

  it.each([
    ["no entry", "{}", "No host has an entry of refmcp"],
    ["an invalid file", "{", "is not valid JSON: line 1"],
    [
      "a server that ends",
      servers({ refmcp: entry("--fail") }),
      "exit code 3. It wrote: DATABASE_URL is not set",
    ],
    [
      "a file that is gone",
      servers({ refmcp: { command: "/gone/node", args: [BIN] } }),
      "/gone/node does not exist.",
    ],
    [
      "a program not in PATH",
      servers({ refmcp: { command: "no-such-program", args: ["refmcp"] } }),
      "no-such-program was not found in PATH",
    ],
    [
      "text on stdout",
      servers({ refmcp: entry("--chatty") }),
      "a line to stdout that is not a message: Welcome!",
    ],
    [
      "a missing directory",
      servers({ refmcp: entry("/no/such/directory") }),
      "the directory /no/such/directory does not exist.",
    ],
    [
      "a missing working directory",
      servers({ refmcp: { ...entry(), cwd: "/no/cwd" } }),
      "its directory /no/cwd does not exist.",
    ],
    [
      "an entry at the top level",
      JSON.stringify({ refmcp: entry() }),
      "refmcp is under the top level, but Cursor reads entries under mcpServers.",
    ],
  ])("reports %s", async (_, text, finding) => {
    const { io, file, output } = await makeHome();
    await file(".cursor/mcp.json", text);
    expect(await runDoctor([], io)).toBe(1);
    expect(output()).toContain(finding);
  });

  it("stops a server that does not answer", async () => {
    const { io, file, output } = await makeHome({ startMs: 1_500 });
    await file(".cursor/mcp.json", servers({ refmcp: entry("--silent") }));
    expect(await runDoctor([], io)).toBe(1);
    expect(output()).toContain("it did not list its tools within 1.5 s.");
  });

  it("does not show a secret that a server writes", async () => {
    const { io, file, output } = await makeHome();
    const env = { DATABASE_URL: "postgres://u:hunter2hunter2@h/d" };
    await file(".cursor/mcp.json", servers({ refmcp: { ...entry("--fail"), env } }));
    expect(await runDoctor([], io)).toBe(1);
    expect(output()).toContain("DATABASE_URL •••");
    expect(output()).not.toContain("hunter2");
  });

  it("warns about doubled and disabled entries, and variables that are not set", async () => {
    const { io, file, output } = await makeHome();
    const env = { TOKEN: "$" + "{env:NO_SUCH_VARIABLE}" };
    const all = { refmcp: entry(), again: entry(), third: { ...entry(), env, disabled: true } };
    await file(".cursor/mcp.json", servers(all));
    expect(await runDoctor([], io), output()).toBe(0);
    expect(output()).toContain("! again starts ");
    expect(output()).toContain("! third is disabled.");
    expect(output()).toContain(
      "! third: NO_SUCH_VARIABLE must be set in the environment of the host.",
    );
  });

  it("reports the old format of OpenCode", async () => {
    const { io, file, output } = await makeHome();
    const old = { mcp: { refmcp: { type: "local", command: [process.execPath, BIN] } } };
    await file(".config/opencode/opencode.json", JSON.stringify(old));
    expect(await runDoctor([], io)).toBe(1);
    expect(output()).toContain(
      "refmcp is under mcp, but OpenCode reads entries under mcp.servers.",
    );
  });

  it("reports a file of Claude Desktop that the store app does not read", async () => {
    const { io, file, output } = await makeHome({ platform: "win32" });
    await file("AppData/Roaming/Claude/claude_desktop_config.json", servers({ refmcp: entry() }));
    expect(await runDoctor([], io), output()).toBe(0);
    await mkdir(path.join(io.home, "AppData/Local/Packages/Claude_pzs8sxrjxfjjc"), {
      recursive: true,
    });
    expect(await runDoctor([], io)).toBe(1);
    expect(output()).toContain("This file is for another installation");
  });

  it("checks the version of Node.js and its own command line", async () => {
    const { io, output } = await makeHome({ nodeVersion: "20.18.3" });
    expect(await runDoctor([], io)).toBe(1);
    expect(output()).toContain("✗ 20.18.3 is too old. refmcp needs 20.19 or newer.");
    expect(await runDoctor(["--all"], io)).toBe(2);
    expect(await runDoctor(["--host", "cursr"], io)).toBe(2);
    expect(output()).toContain('Unknown host "cursr" in --host. Did you mean cursor?');
  });
});

describe("startAsHost", () => {
  const start = { command: process.execPath, args: [BIN], env: {}, passed: [], cwd: undefined };

  it("asks a server that knows only the newest revision", async () => {
    const { io } = await makeHome();
    expect(await startAsHost({ ...start, args: [BIN, "--modern"] }, io)).toEqual({
      ok: true,
      tools: 2,
    });
  });

  it("says when only a terminal finds the command", async () => {
    const { io, file, home } = await makeHome();
    await file("bin/only-here", `#!/bin/sh\nexec "${process.execPath}" "${BIN}"\n`);
    const { chmod } = await import("node:fs/promises");
    await chmod(path.join(home, "bin/only-here"), 0o755);
    const env = { ...io.env, PATH: path.join(home, "bin") };
    const found = await startAsHost({ ...start, command: "only-here", args: [] }, { ...io, env });
    expect(found).toMatchObject({ ok: true, tools: 2 });
    expect(found.ok && found.warning).toContain("does not find only-here; use its absolute path");
  });
});
