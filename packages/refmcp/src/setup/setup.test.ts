import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { BIN, makeHome, userFile } from "../../test/fixtures/setup-home.ts";
import { valueAt } from "./edit.ts";
import { entryAt, entryPath, startOfEntry } from "./entries.ts";
import type { SetupIo } from "./io.ts";
import { fileToWrite, type KnownHost, knownHosts } from "./known-hosts.ts";
import { runSetup } from "./setup.ts";

type Contents = "no file" | "empty" | "comments and other servers" | "our old entry";

/** A file of another user with comments, other servers and odd formatting, in the host's own language. */
function foreignFile(host: KnownHost, mine: string): string {
  const keys = host.keyPath;
  if (host.format === "toml") {
    const [name = ""] = keys;
    const header = (server: string) => `[${name}.${server}]`;
    const ours =
      mine === ""
        ? ""
        : `${header("refmcp")}\ncommand = "npx"\nargs = ["-y", "refmcp", "/old"]\n\n`;
    return `# mine\nmodel = "x"\n\n${ours}# theirs\n${header("other")}\ncommand = 'uvx' # why\nargs = [\n  "[not.a.table]",\n]\n\n[zz]\ntext = """\n[mcp_servers.fake]\n"""\n`;
  }
  if (host.format === "yaml") {
    const indent = "  ".repeat(keys.length);
    const above = keys.map((key, index) => `${"  ".repeat(index)}${key}:\n`).join("");
    const ours =
      mine === ""
        ? ""
        : `${indent}refmcp:\n${indent}  cmd: npx\n${indent}  args: [-y, refmcp, /old]\n`;
    const other = `${indent}other: # why\n${indent}  cmd: 'uvx'\n`;
    return `# mine\nGOOSE_MODEL:   x\n${above}${ours}${other}${indent}  # inside\n# after\nlast: {a: 1}\n`;
  }
  const isJsonc = host.format === "jsonc";
  const item = (server: string, rest: string) => `"${server}": { ${rest} }`;
  const command =
    host.id === "opencode"
      ? '"command": ["npx", "-y", "refmcp", "/old"]'
      : '"command": "npx", "args": ["-y", "refmcp", "/old"]';
  const ours = mine === "" ? "" : `${item("refmcp", `${command}, "alwaysAllow": ["a"]`)},\n\t\t`;
  const others = `${ours}${item("other", '"command":"uvx",   "env": {"KEY": "hunter2hunter2"}')}${isJsonc ? ", // why" : ""}`;
  const servers = `{\n\t\t${others}\n\t}`;
  const inner = keys
    .toReversed()
    .reduce(
      (text, key, index) => (index === 0 ? `"${key}": ${text}` : `"${key}": { ${text} }`),
      servers,
    );
  return `{\n\t"z": 1,${isJsonc ? " // mine" : ""}\n\t${inner},\n\t"a":[1,2]\n}\n`;
}

function read(host: KnownHost, text: string): unknown {
  if (host.format === "toml") return parseToml(text);
  if (host.format === "yaml") return parseYaml(text);
  // Comments of these files are whole or start with ` //`.
  return JSON.parse(text.replace(/ \/\/ \w+$/gm, "").replace(/,(\s*[}\]])/g, "$1"));
}

const CONTENTS: readonly Contents[] = [
  "no file",
  "empty",
  "comments and other servers",
  "our old entry",
];

/** The hosts that keep servers of this scope in a file, with that file. */
function filesOfScope(io: SetupIo, scope: "user" | "project") {
  return knownHosts(io, io.cwd).flatMap((host) => {
    const place = host.places.find((one) => one.scope === scope);
    return place === undefined ? [] : [{ host, file: place.file }];
  });
}

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);

describe.each([
  ["linux", "user"],
  ["linux", "project"],
  ["darwin", "user"],
  ["win32", "user"],
] as const)("on %s, for a %s", (platform, scope) => {
  it.each(CONTENTS)("sets up every host with %s, and undoes it exactly", async (contents) => {
    const { io, output } = await makeHome({ platform });
    const all = filesOfScope(io, scope);
    expect(all.length).toBeGreaterThan(8);
    const before = new Map<string, string | undefined>();
    for (const { host, file } of all) {
      if (before.has(file)) continue;
      const ours = contents === "our old entry" ? "ours" : "";
      const text =
        contents === "no file" ? undefined : contents === "empty" ? "" : foreignFile(host, ours);
      before.set(file, text);
      if (text === undefined) continue;
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const words = ["/", "--host", all.map(({ host }) => host.id).join(","), "--yes"];
    const args = scope === "project" ? [...words, "--project"] : words;
    expect(await runSetup(args, io), output()).toBe(0);
    expect(output()).not.toContain("hunter2");

    const after = new Map([...before.keys()].map((file) => [file, textOf(file)]));
    for (const { host, file } of all) {
      expect(output()).toContain("✓ refmcp starts and has 2 tools.");
      expect(output()).toContain(`\n  ${host.title}: ${host.restart}\n`);
      const [old = "", text = ""] = [before.get(file), after.get(file)];
      const data = read(host, text);
      const start = startOfEntry(entryAt(data, entryPath(host, "refmcp")) ?? {});
      expect(start, host.id).toMatchObject({ command: process.execPath, args: [BIN, "/"] });
      const other = entryPath(host, "other");
      if (old !== "")
        expect(valueAt(data, other), host.id).toEqual(valueAt(read(host, old), other));
      const lines = old.split("\n").filter((line) => !/\/old|npx/.test(line));
      const lost = lines.filter((line) => !text.includes(line.replace(/,$/, "")));
      expect(lost, `every line of the user in the file of ${host.id}`).toEqual([]);
    }

    expect(await runSetup(args, io), "a second time").toBe(0);
    for (const [file, text] of after) expect(textOf(file)).toBe(text);

    expect(await runSetup(["--undo", "--yes"], io), output()).toBe(0);
    for (const [file, text] of before) expect(textOf(file), file).toBe(text);
  });
});

describe("what setup keeps", () => {
  it("writes only the hosts of this machine, and none without a yes", async () => {
    const { io, output, file, home } = await makeHome();
    await mkdir(path.join(home, ".cursor"));
    const zed = await file(".config/zed/settings.json", '{\n  // theme\n  "theme": "One"\n}\n');
    expect(await runSetup(["/", "--dry-run"], io)).toBe(0);
    expect(output()).toContain("Cursor: ");
    expect(output()).toContain("Zed: ");
    expect(output()).toContain('+      "command": ');
    expect(output()).not.toMatch(/Windsurf|Codex/);
    expect(await runSetup(["/"], io)).toBe(2);
    expect(output()).toContain("Add --yes to write");
    expect(readFileSync(zed, "utf8")).toBe('{\n  // theme\n  "theme": "One"\n}\n');
    expect(existsSync(path.join(home, ".cursor", "mcp.json"))).toBe(false);
    expect(existsSync(io.stateDirectories[0] ?? "")).toBe(false);
  });

  it("keeps CRLF, the byte order mark and tabs", async () => {
    const { io, file } = await makeHome();
    const text =
      '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"other": { "command": "uvx" }\r\n\t}\r\n}\r\n';
    const cursor = await file(".cursor/mcp.json", text);
    await runSetup(["/", "--yes"], io);
    const after = readFileSync(cursor, "utf8");
    expect(
      after.startsWith(
        '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"other": { "command": "uvx" },\r\n\t\t"refmcp": {\r\n\t\t\t"command"',
      ),
    ).toBe(true);
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    await runSetup(["--undo", "--yes"], io);
    expect(readFileSync(cursor, "utf8")).toBe(text);
  });

  it("undo keeps what another program wrote later", async () => {
    const { io, file } = await makeHome();
    const cursor = await file(".cursor/mcp.json", '{ "mcpServers": {} }\n');
    await runSetup(["/", "--yes"], io);
    const data = JSON.parse(readFileSync(cursor, "utf8"));
    data.mcpServers.later = { command: "x" };
    await writeFile(cursor, JSON.stringify(data));
    await runSetup(["/tmp", "--yes"], io);
    await runSetup(["--undo", "--yes"], io);
    expect(JSON.parse(readFileSync(cursor, "utf8"))).toEqual({
      mcpServers: { later: { command: "x" } },
    });
  });

  it("undo removes directories that it created, and nothing that came later", async () => {
    const { io, home } = await makeHome();
    await runSetup(["/", "--host", "junie", "--yes"], io);
    expect(existsSync(path.join(home, ".junie", "mcp", "mcp.json"))).toBe(true);
    await writeFile(path.join(home, ".junie", "other"), "");
    await runSetup(["--undo", "--yes"], io);
    expect(existsSync(path.join(home, ".junie", "mcp"))).toBe(false);
    expect(existsSync(path.join(home, ".junie", "other"))).toBe(true);
  });

  it("leaves an entry of another program with the same name alone", async () => {
    const { io, file, output } = await makeHome();
    const text = '{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}';
    const cursor = await file(".cursor/mcp.json", text);
    expect(await runSetup(["/", "--servers", "git", "--yes"], io)).toBe(1);
    expect(readFileSync(cursor, "utf8")).toBe(text);
    expect(output()).toContain('"git" starts another program');
  });

  it("keeps the user's variables and approvals in an entry that it updates", async () => {
    const { io, file, output } = await makeHome();
    const env = { DATABASE_URL: "postgres://u:hunter2hunter2@h/d" };
    const old = { command: "npx", args: ["-y", "refmcp", "/old"], env, autoApprove: ["a"] };
    const cursor = await file(
      ".cursor/mcp.json",
      JSON.stringify({ mcpServers: { refmcp: old } }, undefined, 2),
    );
    expect(await runSetup(["/", "--yes"], io)).toBe(0);
    const { refmcp } = JSON.parse(readFileSync(cursor, "utf8")).mcpServers;
    expect(refmcp).toEqual({ ...old, command: process.execPath, args: [BIN, "/"] });
    expect(output()).not.toContain("hunter2");
  });

  it("asks at the terminal", async () => {
    for (const [answer, isWritten] of [
      ["y\n", true],
      ["no\n", false],
    ] as const) {
      const { io, home, output } = await makeHome();
      await mkdir(path.join(home, ".cursor"));
      const input = Object.assign(io.input, { isTTY: true });
      Object(input).end(answer);
      expect(await runSetup(["/"], io)).toBe(0);
      expect(output()).toContain("Write 1 file? [y/N]");
      expect(existsSync(path.join(home, ".cursor", "mcp.json"))).toBe(isWritten);
    }
  });
});

describe("the file of a host", () => {
  it("is the store app's of Claude Desktop on Windows, whatever its publisher", async () => {
    const { io, file } = await makeHome({ platform: "win32" });
    await file("AppData/Roaming/Claude/claude_desktop_config.json", "{}");
    const claude = () => knownHosts(io, io.cwd).find(({ id }) => id === "claude-desktop");
    const where = () => {
      const host = claude();
      return host === undefined ? undefined : fileToWrite(host, "user", false)?.file;
    };
    expect(where()).toContain(path.join("Roaming", "Claude"));
    await mkdir(path.join(io.home, "AppData/Local/Packages/Claude_abcdefghijklm"), {
      recursive: true,
    });
    expect(where()).toContain(path.join("Claude_abcdefghijklm", "LocalCache", "Roaming", "Claude"));
  });

  it("moves with the host's own variables", async () => {
    const { io } = await makeHome({
      env: { CODEX_HOME: "/c", CLAUDE_CONFIG_DIR: "/d", XDG_CONFIG_HOME: "/e" },
    });
    expect(userFile(io, "codex")).toBe("/c/config.toml");
    expect(userFile(io, "claude-code")).toBe("/d/.claude.json");
    expect(userFile(io, "zed")).toBe("/e/zed/settings.json");
  });
});
