import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { killedAtChange } from "../../../vitest.kill.ts";
import { entryPath } from "../src/hosts/entry.ts";
import { HOSTS, type HostName } from "../src/hosts/hosts.ts";
import { BIN } from "./project.ts";
import { dataOf, makeHome, WRITTEN } from "./setup-home.ts";

const NODE = process.execPath;
const FOLLOWS: readonly HostName[] = ["claude-code", "vscode", "cursor", "gemini", "opencode"];

/** The whole file of a host with only our entry, as in the host's documentation. */
function expected(id: HostName, args: readonly string[]): object {
  if (id === "opencode")
    return { mcp: { servers: { refmcp: { type: "local", command: [NODE, ...args] } } } };
  const entry = { command: NODE, args };
  if (id === "vscode") return { servers: { refmcp: { type: "stdio", ...entry } } };
  if (id === "copilot-cli")
    return { mcpServers: { refmcp: { type: "local", ...entry, tools: ["*"] } } };
  const key = { codex: "mcp_servers", zed: "context_servers" }[String(id)] ?? "mcpServers";
  return { [key]: { refmcp: entry } };
}

/** A file of another user, with comments, odd formatting and other servers. */
function foreign(id: HostName): string {
  const [top = "", ...keys] = entryPath(HOSTS[id], "other");
  if (id === "codex")
    return `# mine\nmodel = "x"\n\n# theirs\n[${top}.other]\ncommand = 'uvx' # why\nargs = [\n  "[no.table]",\n]\n\n[zz]\ntext = """\n[mcp_servers.fake]\n"""\n`;
  const open = keys.map((key) => `{\n"${key}": `).join("");
  return `{\n\t"z": 1, // mine\n\t"${top}": ${open}{ "command":"uvx",   "env": {"KEY": "hunter2"} }, // why\n${"}".repeat(keys.length)},\n\t"a":[1,2],\n}\n`;
}

const CONTENTS: Readonly<Record<string, (id: HostName) => string | undefined>> = {
  "no file": () => undefined,
  "an empty file": () => "",
  "comments and other servers": foreign,
  "entries in one line": (id) =>
    foreign(id).replaceAll(/(?:\/\/ \w+)?\n/g, (gap) => (id === "codex" ? gap : "")),
  "CRLF and a byte order mark": (id) => `\uFEFF${foreign(id).replaceAll("\n", "\r\n")}`,
};

describe.each(["linux", "darwin", "win32"] as const)("on %s", (platform) => {
  it.each(Object.keys(CONTENTS))("sets up every host with %s, and undoes it", async (contents) => {
    const { setup, fileOf, write, home, shop, bin } = makeHome({ platform });
    const before = new Map<string, [HostName, string | undefined]>();
    for (const id of WRITTEN) {
      const text = CONTENTS[contents]?.(id);
      before.set(fileOf(id), [id, text]);
      if (text !== undefined) write(fileOf(id).slice(home.length), text);
    }
    const files = [...before.keys()];
    expect(files.length).toBe(13);
    const argv = [shop, "--host", WRITTEN.join(), "--yes"];
    const { code, output } = await setup(argv);
    expect(code, output).toBe(0);
    expect(output).not.toContain("hunter2");
    for (const [file, [id, old = ""]] of before) {
      expect(output).toContain(
        `✓ ${HOSTS[id].title}: ${file} has the entry, which starts and lists 2`,
      );
      const wanted = expected(id, [bin, ...(FOLLOWS.includes(id) ? [] : [shop])]);
      const text = readFileSync(file, "utf8");
      if (old === "") expect(dataOf(file, id)).toEqual(wanted);
      else expect(dataOf(file, id)).toMatchObject(wanted);
      expect(
        old.split(/(?<=[{,])|\n/).filter((line) => !text.includes(line)),
        id,
      ).toEqual([]);
      if (old.includes("\r")) expect(text).not.toMatch(/[^\r]\n/);
    }
    const after = files.map((file) => readFileSync(file, "utf8"));
    expect((await setup(argv)).code, "a second time").toBe(0);
    expect(files.map((file) => readFileSync(file, "utf8"))).toEqual(after);

    expect((await setup(["--undo", "--yes"])).code).toBe(0);
    for (const [file, [id, old]] of before) {
      const text = readFileSync(file, "utf8");
      expect(text).not.toContain(bin);
      if (old === undefined || old === "") continue;
      expect(text, id).toBe(old);
      expect(readFileSync(`${file}.before-refmcp`, "utf8")).toBe(old);
    }
  });
});

describe("the folder of an entry", () => {
  it("is the open project, unless the host does not report it or --fixed is set", async () => {
    const { setup, fileOf, shop, bin } = makeHome();
    const argsOf = (id: HostName) => JSON.stringify(dataOf(fileOf(id), id));
    const hosts = ["--host=cursor,zed", "--yes"];
    const without = await setup(hosts);
    expect(without.code).toBe(1);
    expect(without.output).toContain("settings.json is left out");
    expect(existsSync(fileOf("zed"))).toBe(false);
    await setup([shop, ...hosts, "--sqlite", "app.db"]);
    expect(argsOf("cursor")).not.toContain(`"${shop}"`);
    expect(argsOf("zed")).toContain(`"${shop}","--sqlite=${join(dirname(shop), "app.db")}"`);
    await setup([shop, ...hosts, "--fixed"]);
    expect(dataOf(fileOf("cursor"), "cursor")).toEqual(expected("cursor", [bin, shop]));
    const absent = await setup([`${shop}/none`, ...hosts]);
    expect(absent.code).toBe(2);
    expect(absent.output).toContain(`${shop}/none does not exist, so nothing was written.`);
  });

  it("is asked for at a terminal, like find_tools for hosts without a search", async () => {
    const { setup, fileOf, shop, bin } = makeHome();
    const hosts = ["--host", "cursor", "--host", "zed"];
    const { output } = await setup(hosts, "~/shop\ny\ny\n");
    expect(output).toMatch(/^Zed cannot tell which project is open/);
    expect(output).toContain("In Zed, every tool is in the model's context.");
    expect(dataOf(fileOf("zed"), "zed")).toEqual(expected("zed", [bin, shop, "--find-tools"]));
    expect(dataOf(fileOf("cursor"), "cursor")).toEqual(expected("cursor", [bin]));
    await setup([shop, ...hosts], "d\nn\ny\n");
    expect(dataOf(fileOf("cursor"), "cursor")).toEqual(expected("cursor", [bin, shop]));
    expect(dataOf(fileOf("zed"), "zed")).toEqual(expected("zed", [bin, shop]));
    const before = readFileSync(fileOf("cursor"), "utf8");
    expect((await setup([shop, ...hosts], "p\nn\nn\n")).output).toContain("Nothing was written.");
    expect(readFileSync(fileOf("cursor"), "utf8")).toBe(before);
  });
});

describe("a file that cannot be changed is reported and stays, and the others are written", () => {
  it.each([
    ["is not valid JSON: InvalidSymbol in line 2.", "{\n  oops\n}\n"],
    ["cannot be changed without touching other parts", '{"mcpServers": []}'],
    ["is not an object", '"text"'],
    ["cannot be changed without", '{"mcpServers": {}, "mcpServers": {"a": 1}}'],
    ["has another program as", '{"mcpServers": {"refmcp": {"command": "uvx"}}}'],
    ["cannot be read", Buffer.from([0x7b, 0xff, 0x7d])],
    ["has something else as mcpServers.refmcp", '{"mcpServers": {"refmcp": "on"}}'],
  ])("%s", async (problem, content) => {
    const { setup, fileOf, write, shop } = makeHome();
    const cursor = write(".cursor/mcp.json", content);
    const { code, output } = await setup([shop, "--host=cursor,codex", "--yes"]);
    expect(code).toBe(1);
    expect(output).toContain(`✗ Cursor: ${cursor} ${problem}`);
    expect(readFileSync(cursor).equals(Buffer.from(content))).toBe(true);
    expect(output).toContain(`✓ Codex: ${fileOf("codex")}`);
  });

  it("invalid TOML, servers in one line, a directory, a link to nothing, a read-only file", async () => {
    const { setup, write, home, shop } = makeHome();
    const codex = write(".codex/config.toml", 'mcp_servers = { other = { command = "uvx" } }\n');
    mkdirSync(join(home, ".config/zed/settings.json"), { recursive: true });
    mkdirSync(join(home, ".gemini"));
    symlinkSync("/nowhere/settings.json", join(home, ".gemini/settings.json"));
    chmodSync(write(".cursor/mcp.json", "{}\n"), 0o444);
    const { code, output } = await setup([shop, "--yes"]);
    expect(code).toBe(1);
    expect(output).toMatch(/Codex: .* Change mcp_servers\.refmcp by hand/);
    expect(output.match(/settings\.json is not a regular file/g)).toHaveLength(2);
    expect(output).toContain("is read-only");
    expect(readFileSync(join(home, ".cursor/mcp.json"), "utf8")).toBe("{}\n");
    writeFileSync(codex, "a = = 2\n");
    expect((await setup([shop, "--yes"])).output).toMatch(/Codex: .*Invalid TOML/);
  });
});

it("a large file, its permissions and a link to it stay", async () => {
  const { setup, write, home, shop } = makeHome();
  const lines = Array.from(
    { length: 10_000 },
    (_, n) => `    { "n": ${n}, "t": "${"x".repeat(480)}" }`,
  );
  const text = `{\n  "history": [\n${lines.join(",\n")}\n  ]\n}\n`;
  const file = write(".cursor/mcp.json", text);
  chmodSync(file, 0o600);
  renameSync(file, join(home, "dotfile.json"));
  symlinkSync(join(home, "dotfile.json"), file);
  expect((await setup([shop, "--yes"])).code).toBe(0);
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8").endsWith(text.slice(1))).toBe(true);
});

it("a run that is killed leaves the old file or the new one", { timeout: 120_000 }, async () => {
  const { home, shop, write } = makeHome();
  const other = `{ "history": "${"x".repeat(5e6)}"`;
  const file = write(".cursor/mcp.json", `${other} }`);
  const env = { HOME: home, PATH: process.env.PATH };
  // Kills it at its first change of a file, then at its second, and so on, until it makes all of them.
  for (const words of [[shop], ["--undo"]])
    for (let nth = 1, isKilled = true; isKilled; nth++) {
      if (words[0] === shop) write(".cursor/mcp.json", `${other} }`);
      const command = [...killedAtChange(nth), BIN, "setup", ...words, "--yes"];
      const child = spawn(NODE, command, { env, cwd: home, stdio: "ignore" });
      await once(child, "exit");
      isKilled = child.signalCode === "SIGKILL";
      if (!isKilled) expect([child.exitCode, nth > 3]).toEqual([0, true]);
      expect(Object.keys(Object(dataOf(file, "cursor")))).toContain("history");
    }
});

describe("an entry of refmcp that is already there", () => {
  const old = {
    command: "npx",
    args: ["-y", "refmcp", "/old"],
    env: { A: "hunter2" },
    autoApprove: ["a"],
  };

  it("is updated, keeps what the user added, and is restored", async () => {
    const { setup, write, shop, bin } = makeHome();
    const file = write(".cursor/mcp.json", JSON.stringify({ mcpServers: { refmcp: old } }));
    await setup([shop, "--yes"]);
    await setup([shop, "--yes", "--fixed"]);
    const entry = Object(dataOf(file, "cursor")).mcpServers.refmcp;
    expect(entry).toEqual({ ...old, command: NODE, args: [bin, shop] });
    await setup(["--undo", "--yes"]);
    expect(dataOf(file, "cursor")).toEqual({ mcpServers: { refmcp: old } });
  });

  it("stays if it is another one when setup is undone, as does what came later", async () => {
    const { setup, write, shop } = makeHome();
    const cursor = write(".cursor/mcp.json", "{}");
    const gemini = write(".gemini/settings.json", "{}");
    await setup([shop, "--yes"]);
    write(".cursor/mcp.json", JSON.stringify({ mcpServers: { refmcp: { command: "mine" } } }));
    const { mcpServers } = Object(dataOf(gemini, "gemini"));
    const now = { mcpServers: { refmcp: { ...mcpServers.refmcp, trust: true }, later: {} } };
    write(".gemini/settings.json", JSON.stringify(now));
    const { code, output } = await setup(["--undo", "--yes"]);
    expect(code).toBe(1);
    expect(output).toContain(`✗ ${cursor} has another mcpServers.refmcp now, which stays.`);
    expect(dataOf(cursor, "cursor")).toEqual({ mcpServers: { refmcp: { command: "mine" } } });
    expect(dataOf(gemini, "gemini")).toEqual({ mcpServers: { later: {} } });
  });
});

it("writes nothing for a dry run, or without anyone to ask", async () => {
  const { setup, home, shop } = makeHome();
  mkdirSync(join(home, ".cursor"));
  const { code, output } = await setup([shop, "--dry-run"]);
  expect([code, output]).toEqual([0, expect.stringContaining("+ mcpServers.refmcp {")]);
  expect(output).toMatch(/^Entries without a folder allow the .+\nNothing was written\.\n$/m);
  expect(output).not.toMatch(/Zed|Codex/);
  const asked = await setup([shop]);
  expect([asked.code, asked.output]).toEqual([2, expect.stringContaining("Add --yes to write")]);
  expect(readdirSync(join(home, ".cursor"))).toEqual([]);
});

it("prints YAML to paste, and refuses mistakes in the command line", async () => {
  const { setup, write, shop, bin } = makeHome();
  write(".config/goose/config.yaml", "GOOSE_MODEL: x\n");
  const { output } = await setup([shop, "--yes"]);
  expect(output).toContain(`    cmd: "${NODE}"\n    args: ["${bin}"]\n`);
  for (const [word, problem] of [
    ["--sqlit=app.db", "Did you mean --sqlite?"],
    ["--host=cursr", "Did you mean cursor?"],
  ] as const)
    expect(await setup([shop, word])).toMatchObject({
      code: 2,
      output: expect.stringContaining(problem),
    });
});

it("runs the host's own command if there is one, and edits the file if that fails", async () => {
  const { setup, fileOf, write, env, home, shop, bin } = makeHome();
  const added = `printf '{"mcpServers":{"%s":%s}}' "$5" "$6" > "$HOME/.claude.json"`;
  chmodSync(write("bin/claude", `#!/bin/sh\n${added}\n`), 0o755);
  chmodSync(write("bin/codex", "#!/bin/sh\nexit 1\n"), 0o755);
  Object.assign(env, { PATH: `${join(home, "bin")}:/usr/bin:/bin`, HOME: home });
  const { code, output } = await setup([shop, "--host=claude-code,codex", "--yes"]);
  expect(code, output).toBe(0);
  const { refmcp } = Object(dataOf(fileOf("claude-code"), "claude-code")).mcpServers;
  expect(refmcp).toEqual({ type: "stdio", command: NODE, args: [bin] });
  expect(dataOf(fileOf("codex"), "codex")).toEqual(expected("codex", [bin, shop]));
});

it("--check reads the entries again, and starts each as its host does", async () => {
  const { setup, write, shop } = makeHome();
  expect((await setup(["--check", "--host=cursor"])).code).toBe(2);
  const cursor = write(".cursor/mcp.json", "{}");
  await setup([shop, "--yes"]);
  const good = await setup(["--check"]);
  expect(good).toMatchObject({ code: 0, output: expect.stringContaining(`✓ Cursor: ${cursor}`) });
  await setup([shop, "--yes", "--read-only"]);
  const bad = await setup(["--check"]);
  expect(bad.code).toBe(1);
  expect(bad.output).toContain("has an entry that does not start: Out of tea.");
  const goose = write(".config/goose/config.yaml", "");
  const unread = await setup(["--check", "--host=goose"]);
  expect(unread.output).toContain(`Goose: ${goose} is YAML, which setup does not check.`);
  const moved = { mcpServers: { refmcp: { command: "/no/node", args: [] } } };
  write(".cursor/mcp.json", JSON.stringify(moved));
  expect((await setup(["--check"])).output).toContain("spawn /no/node ENOENT");
});

it("an entry contains no secret, only where the host gets it", async () => {
  const url = "postgres://u:hunter2@h/d";
  const { setup, fileOf, shop } = makeHome({ env: { REFMCP_POSTGRES: url } });
  const { output } = await setup([shop, "--host", WRITTEN.join(), "--yes"]);
  expect(output).not.toContain("hunter2");
  const texts = WRITTEN.map((id) => readFileSync(fileOf(id), "utf8"));
  expect(texts.join()).not.toContain("hunter2");
  for (const text of texts) expect(text).toContain("REFMCP_POSTGRES");
});

it("finds a host's file where its variables or its installation put it", () => {
  const env = { CODEX_HOME: "/c", CLAUDE_CONFIG_DIR: "/d", XDG_CONFIG_HOME: "/e" };
  const moved = makeHome({ env });
  expect(moved.fileOf("codex")).toBe("/c/config.toml");
  expect(moved.fileOf("claude-code")).toBe("/d/.claude.json");
  expect(moved.fileOf("zed")).toBe("/e/zed/settings.json");
  const { write, fileOf, home } = makeHome({ platform: "win32" });
  write("Roaming/Claude/claude_desktop_config.json", "{}");
  expect(fileOf("claude-desktop")).toBe(join(home, "Roaming/Claude/claude_desktop_config.json"));
  mkdirSync(join(home, "Local/Packages/Claude_pzs8sxrjxfjjc"), { recursive: true });
  expect(fileOf("claude-desktop")).toContain("Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache");
});
