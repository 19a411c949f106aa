import type { EntryParts, Host } from "./host.ts";

const on = (unix: readonly string[], win32 = unix, darwin = unix) => ({
  linux: unix,
  darwin,
  win32,
});
const braced = (name: string) => `\${${name}}`;
const bracedEnv = (name: string) => `\${env:${name}}`;
const itself = (name: string) => name;
/** The member `name`, unless its value is empty. */
const unlessEmpty = (name: string, value: object) =>
  Object.keys(value).length > 0 && { [name]: value };
export const ordinary = ({ command, args, env }: EntryParts) => {
  return { command, args, ...unlessEmpty("env", env) };
};
/** Files in VS Code's own folder, after other places. */
const inCode = (files: readonly string[], others: readonly string[] = []) => {
  const at = (folder: string) => [...others, ...files.map((file) => `${folder}/${file}`)];
  return on(at("~/.config"), at("%APPDATA%"), at("~/Library/Application Support"));
};

const TABLE = {
  "claude-desktop": {
    title: "Claude Desktop",
    source: ["https://modelcontextprotocol.io/docs/develop/connect-local-servers", "2026-11-27"],
    files: on(
      ["~/.config/Claude/claude_desktop_config.json"],
      [
        // Since February 2026 the app is an MSIX package, which never reads the file in %APPDATA%.
        "%LOCALAPPDATA%/Packages/Claude_pzs8sxrjxfjjc|/LocalCache/Roaming/Claude/claude_desktop_config.json",
        "%APPDATA%/Claude/claude_desktop_config.json",
      ],
      ["~/Library/Application Support/Claude/claude_desktop_config.json"],
    ),
    restart: "Quit Claude Desktop completely, from its menu bar or tray icon, and open it again.",
  },
  "claude-code": {
    title: "Claude Code",
    source: ["https://code.claude.com/docs/en/mcp", "2026-11-27"],
    files: on(["~/.claude|.json"]),
    moved: ["CLAUDE_CONFIG_DIR", "~"],
    project: ".mcp.json",
    secret: braced,
    does: ["roots", "search"],
    adds: (name, entry) => {
      const json = JSON.stringify({ type: "stdio", ...entry });
      return ["claude", "mcp", "add-json", "--scope", "user", name, json];
    },
    // It rewrites its file while it runs.
    isRun: true,
  },
  vscode: {
    title: "VS Code",
    source: ["https://code.visualstudio.com/docs/agents/reference/mcp-configuration", "2026-11-27"],
    files: inCode(["Code/User/mcp.json", "Code - Insiders/User/mcp.json"]),
    project: ".vscode/mcp.json",
    keys: ["servers"],
    entry: (parts) => ({ type: "stdio", ...ordinary(parts) }),
    secret: bracedEnv,
    does: ["roots", "search"],
    adds: (name, entry) => ["code", "--add-mcp", JSON.stringify({ name, ...entry })],
    restart: "Run the command MCP: List Servers to start the server and to see its output.",
  },
  cursor: {
    title: "Cursor",
    source: ["https://cursor.com/docs/mcp", "2026-11-27"],
    files: on(["~/.cursor/mcp.json"]),
    project: ".cursor/mcp.json",
    secret: bracedEnv,
    does: ["roots", "search"],
    restart: "Restart Cursor, and check that the server is on under Customize > MCPs.",
  },
  codex: {
    title: "Codex",
    source: ["https://developers.openai.com/codex/mcp", "2026-11-27"],
    files: on(["~/.codex/config.toml"]),
    moved: ["CODEX_HOME", "~/.codex"],
    project: ".codex/config.toml",
    format: "toml",
    keys: ["mcp_servers"],
    entry: ({ command, args, plain, secrets }) => ({
      command,
      args,
      ...unlessEmpty("env_vars", secrets),
      ...unlessEmpty("env", plain),
    }),
    secret: itself,
    does: ["search"],
    adds: (name, { command, args, env, env_vars }) => {
      // The command takes no names of variables to pass on.
      if (env !== undefined || env_vars !== undefined) return undefined;
      return ["codex", "mcp", "add", name, "--", command, args].flat().map(String);
    },
    isRun: true,
  },
  gemini: {
    title: "Gemini CLI",
    source: ["https://geminicli.com/docs/tools/mcp-server", "2026-11-27"],
    files: on(["~/.gemini/settings.json"]),
    project: ".gemini/settings.json",
    secret: braced,
    does: ["roots"],
    note: "Antigravity takes the same entry in ~/.gemini/config/mcp_config.json.",
  },
  "copilot-cli": {
    title: "Copilot CLI",
    source: [
      "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
      "2026-11-27",
    ],
    files: on(["~/.copilot/mcp-config.json"]),
    project: ".github/mcp.json",
    entry: (parts) => ({ type: "local", ...ordinary(parts), tools: ["*"] }),
    secret: braced,
    does: ["search"],
    restart: "Run /mcp reload.",
  },
  zed: {
    title: "Zed",
    source: ["https://zed.dev/docs/ai/mcp", "2026-09-25"],
    files: on(["~/.config/zed/settings.json"], ["%APPDATA%/Zed/settings.json"]),
    project: ".zed/settings.json",
    keys: ["context_servers"],
    restart: "Zed starts the server at once: it has a green dot under Settings > AI > MCP Servers.",
  },
  junie: {
    title: "JetBrains Junie",
    source: ["https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html", "2026-09-25"],
    files: on(["~/.junie|/mcp/mcp.json"]),
    project: ".junie/mcp/mcp.json",
    restart: "Check the server with /mcp, or under Settings > Tools > Junie > MCP Settings.",
    note: "JetBrains AI Assistant takes the same entry under Settings > Tools > AI Assistant > Model Context Protocol (MCP).",
  },
  opencode: {
    title: "OpenCode",
    source: ["https://opencode.ai/v2/docs/mcp-servers", "2026-11-27"],
    files: on(["~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"]),
    project: "opencode.json",
    keys: ["mcp", "servers"],
    entry: ({ command, args, env }) => {
      return { type: "local", command: [command, ...args], ...unlessEmpty("environment", env) };
    },
    secret: (name) => `{env:${name}}`,
    does: ["roots"],
    restart: "Restart OpenCode, and check the server with opencode mcp list.",
    note: "Older versions list servers directly under mcp, without servers.",
  },
  cline: {
    title: "Cline",
    source: ["https://docs.cline.bot/mcp/mcp-overview", "2026-09-25"],
    files: inCode(
      ["Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"],
      ["~/.cline|/data/settings/cline_mcp_settings.json"],
    ),
    restart: "Check the server in Cline's panel, under MCP Servers.",
  },
  goose: {
    title: "Goose",
    source: ["https://goose-docs.ai/docs/guides/config-files/", "2026-09-25"],
    files: on(["~/.config/goose/config.yaml"], ["%APPDATA%/Block/goose/config/config.yaml"]),
    format: "yaml",
    keys: ["extensions"],
    entry: ({ name, command, args, plain, secrets }) => ({
      type: "stdio",
      name,
      enabled: true,
      cmd: command,
      args,
      ...unlessEmpty("env_keys", secrets),
      ...unlessEmpty("envs", plain),
      timeout: 300,
    }),
    secret: itself,
    does: ["roots"],
    restart: "Start a new session.",
  },
  "lm-studio": {
    title: "LM Studio",
    source: ["https://lmstudio.ai/docs/app/mcp", "2026-11-27"],
    files: on(["~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"]),
    restart: "LM Studio reloads the file when it changes.",
  },
  devin: {
    title: "Devin Desktop (Windsurf)",
    source: ["https://docs.devin.ai/cli/extensibility/mcp/configuration", "2026-09-25"],
    files: on(
      ["~/.config/devin/mcp_config.json", "~/.codeium/windsurf/mcp_config.json"],
      ["%APPDATA%/devin/mcp_config.json", "~/.codeium/windsurf/mcp_config.json"],
    ),
    project: ".devin/mcp_config.json",
    restart: "Check the server in the MCP panel of Cascade, or start a new session of Devin CLI.",
  },
  json: {
    title: "Any other host",
    source: ["https://modelcontextprotocol.io/docs/develop/connect-local-servers", "2026-11-27"],
    files: on([]),
    restart: "Restart the host.",
    note: "Most hosts use this form. Others have another name for mcpServers, or other fields.",
  },
} satisfies Readonly<Record<string, Host>>;

export type HostName = keyof typeof TABLE;

/** Facts from each host's documentation, by the name for `--print-config`, in the order of the documentation. */
export const HOSTS: Readonly<Record<HostName, Host>> = TABLE;

/** The last is for any other host. */
export const HOST_NAMES = Object.keys(TABLE) as readonly HostName[];
