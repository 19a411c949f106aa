import { describe, expect, it } from "vitest";
import { renderHostEntry } from "./host-entry.ts";

const owner = { name: "filesystem", packageName: "@refmcp/server-filesystem" };

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

  it("runs the file of a clone", () => {
    const command = { command: process.execPath, args: ["/clone/dist/bin.js"] };
    const clone = renderHostEntry("zed", owner, given, { command, platform: "linux" });
    expect(JSON.parse(clone.text)).toEqual({
      context_servers: {
        filesystem: {
          command: process.execPath,
          args: ["/clone/dist/bin.js", "/work/a", "--read-only"],
        },
      },
    });
  });
});
