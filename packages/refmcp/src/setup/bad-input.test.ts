import { chmodSync, existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeHome } from "../../test/fixtures/setup-home.ts";
import { ChangedMeanwhile, readConfigFile, writeConfigFile } from "./config-file.ts";
import { runSetup } from "./setup.ts";

describe("a file that cannot be changed is reported and left alone", () => {
  it.each([
    ["{\n  oops\n}\n", "is not valid JSON: line 2, column 3: invalid symbol."],
    ['{"mcpServers": []}', "mcpServers is not an object"],
    ['"text"', "it is not an object"],
    ["\u0000\u0001", "is not valid JSON: line 1"],
    [
      '{"mcpServers": {}, "mcpServers": {"a": {"command": "x"}}}',
      "cannot be changed without touching other parts",
    ],
  ])("%j", async (text, problem) => {
    const { io, file, output } = await makeHome();
    const cursor = await file(".cursor/mcp.json", text);
    expect(await runSetup(["/", "--yes"], io)).toBe(1);
    expect(output()).toContain(problem);
    expect(readFileSync(cursor, "utf8")).toBe(text);
  });

  it("invalid TOML and YAML, with their line", async () => {
    const { io, file, output } = await makeHome();
    await file(".codex/config.toml", "a = 1\nb = = 2\n");
    await file(".config/goose/config.yaml", "a: 1\nb: [1\n");
    expect(await runSetup(["/", "--yes"], io)).toBe(1);
    expect(output()).toMatch(
      /config\.toml\n {2}✗ This file is not valid TOML: line 2, column \d+: /,
    );
    expect(output()).toMatch(
      /config\.yaml\n {2}✗ This file is not valid YAML: line \d, column \d+: /,
    );
  });

  it("a server list that TOML has in one line", async () => {
    const { io, file, output } = await makeHome();
    const text = 'mcp_servers = { other = { command = "uvx" } }\n';
    const codex = await file(".codex/config.toml", text);
    expect(await runSetup(["/", "--yes"], io)).toBe(1);
    expect(output()).toContain("Change mcp_servers.refmcp by hand");
    expect(readFileSync(codex, "utf8")).toBe(text);
  });

  it("bytes that are not text, a directory, and a link that leads nowhere", async () => {
    const { io, file, home, output } = await makeHome();
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const cursor = await file(".cursor/mcp.json", bytes);
    await mkdir(path.join(home, ".config/zed/settings.json"), { recursive: true });
    await mkdir(path.join(home, ".gemini"));
    await symlink("/nowhere/settings.json", path.join(home, ".gemini", "settings.json"));
    expect(await runSetup(["/", "--yes"], io)).toBe(1);
    expect(output()).toContain("mcp.json\n  ✗ This file is not UTF-8 text.");
    expect(output()).toContain("settings.json\n  ✗ This file is a directory.");
    expect(output()).toContain(
      "settings.json\n  ✗ This file is a symlink to a file that does not exist.",
    );
    expect(readFileSync(cursor)).toEqual(bytes);
  });

  it("a read-only file", async () => {
    const { io, file, output } = await makeHome();
    const cursor = await file(".cursor/mcp.json", "{}\n");
    chmodSync(cursor, 0o444);
    expect(await runSetup(["/", "--yes"], io)).toBe(1);
    expect(output()).toContain("is read-only. Make it writable first.");
    expect(readFileSync(cursor, "utf8")).toBe("{}\n");
  });
});

describe("a file that can be changed", () => {
  it("has 5 MB, and the rest of it stays", async () => {
    const { io, file } = await makeHome();
    const history = Array.from(
      { length: 10_000 },
      (_, index) => `    { "n": ${index}, "text": "${"x".repeat(480)}" }`,
    );
    const text = `{\n  "history": [\n${history.join(",\n")}\n  ]\n}\n`;
    expect(text.length).toBeGreaterThan(5_000_000);
    const claude = await file(".claude.json", text);
    expect(await runSetup(["/", "--yes"], io)).toBe(0);
    const after = readFileSync(claude, "utf8");
    expect(after.startsWith(`${text.slice(0, -3)},\n  "mcpServers": {`)).toBe(true);
    await runSetup(["--undo", "--yes"], io);
    expect(readFileSync(claude, "utf8") === text).toBe(true);
  });

  it("keeps its permissions, and stays a link", async () => {
    const { io, file, home } = await makeHome();
    const dotfile = await file("dotfiles/cursor.json", "{}\n");
    chmodSync(dotfile, 0o600);
    await mkdir(path.join(home, ".cursor"));
    const link = path.join(home, ".cursor", "mcp.json");
    await symlink("../dotfiles/cursor.json", link);
    expect(await runSetup(["/", "--yes"], io)).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(dotfile, "utf8")).toContain("refmcp");
    expect(statSync(dotfile).mode & 0o777).toBe(0o600);
    await runSetup(["--undo", "--yes"], io);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(dotfile, "utf8")).toBe("{}\n");
  });
});

describe("a program that writes at the same time", () => {
  it("is not overwritten", async () => {
    const { file } = await makeHome();
    const cursor = await file(".cursor/mcp.json", "{}\n");
    const seen = readConfigFile(cursor);
    await writeFile(`${cursor}.new`, '{"theirs": 1}\n');
    await rename(`${cursor}.new`, cursor);
    await expect(writeConfigFile(seen, Buffer.from("ours"))).rejects.toThrow(ChangedMeanwhile);
    expect(readFileSync(cursor, "utf8")).toBe('{"theirs": 1}\n');
  });

  it("creates a file that was missing", async () => {
    const { home, file } = await makeHome();
    const cursor = path.join(home, ".cursor", "mcp.json");
    const seen = readConfigFile(cursor);
    await file(".cursor/mcp.json", "theirs");
    await expect(writeConfigFile(seen, Buffer.from("ours"))).rejects.toThrow(ChangedMeanwhile);
    expect(readFileSync(cursor, "utf8")).toBe("theirs");
  });

  it("changes something else while the user reads: both changes are in the file", async () => {
    const { io, file, output } = await makeHome();
    const claude = await file(".claude.json", '{\n  "numStartups": 1\n}\n');
    const input = Object.assign(io.input, { isTTY: true });
    const asked = new Promise<void>((resolve) => {
      const { write } = io.output;
      Object.assign(io.output, {
        write: (text: string) => {
          if (text.includes("[y/N]")) resolve();
          return write(text);
        },
      });
    });
    const running = runSetup(["/"], io);
    await asked;
    await writeFile(claude, '{\n  "numStartups": 2\n}\n');
    Object(input).end("y\n");
    expect(await running, output()).toBe(0);
    const data = JSON.parse(readFileSync(claude, "utf8"));
    expect(data).toMatchObject({ numStartups: 2, mcpServers: { refmcp: {} } });
    await runSetup(["--undo", "--yes"], { ...io, input: process.stdin });
    expect(readFileSync(claude, "utf8")).toBe('{\n  "numStartups": 2\n}\n');
    expect(existsSync(claude)).toBe(true);
  });
});
