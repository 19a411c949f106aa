import path from "node:path";
import { defineOptions } from "@refmcp/core/internal/define/options";
import { describe, expect, it } from "vitest";
import { carryOptions, localCommand, renderHostEntry } from "./host-entry.ts";
import { serverOptions } from "./options.ts";
import { parseCommandLine } from "./parse-options.ts";

const options = defineOptions({
  readOnlyDir: { type: "directory", list: true, description: "D." },
  journal: { type: "flag", default: true, description: "D." },
  ignore: { type: "string", list: true, commas: false, description: "D." },
  hooks: { type: "enum", list: true, values: ["a", "b"], description: "D." },
  proxyUrl: { type: "url", description: "The proxy." },
  token: { type: "secret", env: ["API_TOKEN"], description: "The token." },
  db: {
    type: "secret",
    named: "unique",
    ask: true,
    askUnless: ["demo"],
    form: { title: "Databases", help: "Each with a name." },
    description: "The databases.",
  },
  demo: { type: "flag", description: "A database to try things out." },
  space: { type: "directory", named: "unique", description: "D." },
});
const all = serverOptions({ name: "filesystem", options, directories: {} });
const owner = { name: "filesystem", packageName: "@refmcp/server-filesystem" };
const place = { cwd: "/work", home: "/home/me", platform: "linux" } as const;
const asked = {
  name: "REFMCP_FILESYSTEM_DB",
  secret: true,
  description: "Databases: Each with a name.",
};

function carried(argv: readonly string[], env: Record<string, string> = {}) {
  const command = parseCommandLine(all, {
    ...place,
    argv: [...argv, "--print-config", "zed"],
    env,
  });
  if (command.kind !== "print-config") throw new Error(JSON.stringify(command));
  return carryOptions(all.server, all.table, command.given, "linux");
}

describe("carryOptions", () => {
  it.each<[string[], string[]]>([
    [[], []],
    [
      ["--read-only", "~/a", "b"],
      ["/home/me/a", "/work/b", "--read-only"],
    ],
    [["--root", "b"], ["/work/b"]],
    [["--no-journal"], ["--no-journal"]],
    [["--journal"], ["--journal"]],
    [["--read-only=no"], ["--no-read-only"]],
    [["--timeout-ms", "6000"], ["--timeout-ms=6000"]],
    [["--tools", "a,b", "--tools", "c"], ["--tools=a,b,c"]],
    [["--hooks=a", "--hooks=b"], ["--hooks=a,b"]],
    [
      ["--ignore", "{a,b}", "--ignore=-c"],
      ["--ignore={a,b}", "--ignore=-c"],
    ],
    [["--read-only-dir", "../x"], ["--read-only-dir=/x"]],
    [["--proxy-url", "http://proxy:8080"], ["--proxy-url=http://proxy:8080/"]],
    [["--space", "a=sub"], ["--space=a=/work/sub"]],
    [
      ["--roots", "off", "--log-level", "debug"],
      ["--roots=off", "--log-level=debug"],
    ],
  ])("%j → %j", (argv, args) => {
    const found = carried(argv);
    expect(found).toEqual({ args, env: [asked] });
    // Starting again with the carried arguments gives the same options.
    const before = parseCommandLine(all, { ...place, argv, env: {} });
    const after = parseCommandLine(all, { ...place, cwd: "/", argv: found.args, env: {} });
    expect(before.kind === "serve" && before.options).toEqual(
      after.kind === "serve" && after.options,
    );
  });

  it("turns secrets into variables without a value, under their original name", () => {
    const token = { secret: true, description: "The token." };
    expect(carried(["--token", "hunter2", "--db", "a=hunter2"])).toEqual({
      args: [],
      env: [{ name: "REFMCP_FILESYSTEM_TOKEN", ...token }, asked],
    });
    expect(carried([], { API_TOKEN: "hunter2" }).env).toEqual([
      { name: "API_TOKEN", ...token },
      asked,
    ]);
  });

  it("asks for no secret that another option makes unnecessary", () => {
    expect(carried(["--demo"])).toEqual({ args: ["--demo"], env: [] });
    expect(carried(["--demo", "--db", "a=hunter2"]).env).toEqual([asked]);
  });

  it("treats a URL with a password as a secret", () => {
    const proxy = { name: "REFMCP_FILESYSTEM_PROXY_URL", secret: true, description: "The proxy." };
    expect(carried(["--proxy-url", "http://me:hunter2@proxy"])).toEqual({
      args: [],
      env: [proxy, asked],
    });
    const env = { REFMCP_FILESYSTEM_PROXY_URL: "http://hunter2@proxy" };
    expect(carried([], env)).toEqual({ args: [], env: [proxy, asked] });
  });

  it("keeps values from the environment there, with absolute paths", () => {
    const env = {
      REFMCP_FILESYSTEM_ROOT: "~/a:b",
      REFMCP_FILESYSTEM_READ_ONLY: "yes",
      REFMCP_FILESYSTEM_IGNORE: "a\nb",
      PATH: "/bin",
    };
    const found = carried(["--timeout-ms=200"], env);
    expect(found).toEqual({
      args: ["--timeout-ms=200"],
      env: [
        { name: "REFMCP_FILESYSTEM_ROOT", value: "/home/me/a:/work/b" },
        { name: "REFMCP_FILESYSTEM_IGNORE", value: "a\nb" },
        asked,
        { name: "REFMCP_FILESYSTEM_READ_ONLY", value: "true" },
      ],
    });
  });
});

describe("renderHostEntry", () => {
  const given = { args: ["/work/a", "--read-only"], env: [] };

  it("separates the entry from the notes", () => {
    const { text, guidance } = renderHostEntry("vscode", owner, given, { platform: "linux" });
    expect(JSON.parse(text)).toEqual({
      servers: {
        filesystem: {
          type: "stdio",
          command: "npx",
          args: ["-y", "@refmcp/server-filesystem", "/work/a", "--read-only"],
        },
      },
    });
    expect(guidance.replace(/https:\/\/insiders\S+|vscode:\S+/g, "LINK")).toBe(
      [
        "VS Code: add this to .vscode/mcp.json (this project) or ~/.config/Code/User/mcp.json (all your projects).",
        "If the file already exists, keep its content and add this server.",
        `Or run: code --add-mcp '{"name":"filesystem","type":"stdio","command":"npx","args":["-y","@refmcp/server-filesystem","/work/a","--read-only"]}'`,
        "Or open: LINK",
        "Or open, without the host's web site: LINK",
        "Run the command MCP: List Servers afterwards to start it and to see its output.",
        "More: https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        "",
      ].join("\n"),
    );
  });

  it("gives the Windows entry and paths on Windows", () => {
    const { text, guidance } = renderHostEntry("cursor", owner, given, { platform: "win32" });
    expect(text).toContain('"command": "cmd"');
    expect(guidance).toContain(
      ".cursor\\mcp.json (this project) or %USERPROFILE%\\.cursor\\mcp.json (all your projects)",
    );
    expect(
      renderHostEntry("claude-code", owner, given, { platform: "win32" }).guidance,
    ).not.toContain("Or run:");
    const desktop = renderHostEntry("claude-desktop", owner, given, { platform: "win32" }).guidance;
    expect(desktop).toContain(
      "add this to %LOCALAPPDATA%\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json (all your projects; installed since February 2026) or %APPDATA%\\Claude\\claude_desktop_config.json (all your projects; older)",
    );
    expect(desktop).toContain(
      "reads only the file in it, even if Edit Config opens the other one.",
    );
  });

  it("warns about characters that cmd would change, only on Windows", () => {
    const odd = { args: ["/work/a&b"], env: [] };
    expect(renderHostEntry("zed", owner, odd, { platform: "win32" }).guidance).toContain(
      "In cmd, &",
    );
    for (const platform of ["linux", "darwin"] as const)
      expect(renderHostEntry("zed", owner, odd, { platform }).guidance).not.toMatch(/Windows|cmd/);
  });

  it("prints the common form for any other host", () => {
    const { text, guidance } = renderHostEntry("json", owner, given, { platform: "linux" });
    expect(JSON.parse(text)).toEqual({
      mcpServers: {
        filesystem: {
          command: "npx",
          args: ["-y", "@refmcp/server-filesystem", "/work/a", "--read-only"],
        },
      },
    });
    expect(guidance).toMatch(/^Any other host: add this to the host's list of MCP servers\.\n/);
  });

  it("gives the macOS path on macOS", () => {
    expect(
      renderHostEntry("claude-desktop", owner, given, { platform: "darwin" }).guidance,
    ).toContain("~/Library/Application Support/Claude/claude_desktop_config.json (all");
  });

  it("runs the file of a clone, and npx for an installed package", () => {
    const clone = renderHostEntry("zed", owner, given, {
      bin: "/clone/dist/bin.js",
      platform: "linux",
    });
    expect(JSON.parse(clone.text)).toEqual({
      context_servers: {
        filesystem: {
          command: process.execPath,
          args: ["/clone/dist/bin.js", "/work/a", "--read-only"],
        },
      },
    });
    expect(path.isAbsolute(process.execPath)).toBe(true);
    const bin = "/root/.npm/_npx/1/node_modules/@refmcp/server-filesystem/dist/bin.js";
    expect(renderHostEntry("zed", owner, given, { bin, platform: "linux" }).text).toContain(
      '"npx"',
    );
  });
});

describe("localCommand", () => {
  it("is undefined inside node_modules, on either kind of path", () => {
    expect(localCommand("/usr/lib/node_modules/@refmcp/server-git/dist/bin.js")).toBeUndefined();
    expect(localCommand("C:\\n\\node_modules\\@refmcp\\server-git\\dist\\bin.js")).toBeUndefined();
    expect(localCommand("/clone/my_node_modules/bin.js")).toEqual({
      command: process.execPath,
      args: ["/clone/my_node_modules/bin.js"],
    });
    expect(localCommand("dist/bin.js")?.args).toEqual([path.resolve("dist/bin.js")]);
  });
});
