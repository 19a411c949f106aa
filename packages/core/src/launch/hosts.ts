import type { HostName } from "../define/common-options.ts";

export interface HostLocation {
  /** `project`: relative to its folder; `user`: for all projects. */
  readonly scope: "project" | "user";
  readonly platform: "any" | "macOS" | "Linux" | "Windows";
  /** As the platform writes it; `~` is the home directory where the platform is `any`. */
  readonly path: string;
}

/** What is known of a host. */
export interface HostFacts {
  readonly title: string;
  /** The host's own page on the format. */
  readonly documentation: string;
  readonly locations: readonly HostLocation[];
  /** How an entry names a secret that the host gets elsewhere; absent: the user pastes it into the file. */
  readonly secret?: (name: string) => string;
  /** What in an argument the host takes for a variable of its own. */
  readonly replaces?: RegExp;
  readonly notes?: readonly string[];
}

const project = (path: string): HostLocation => ({ scope: "project", platform: "any", path });
const user = (path: string, platform: HostLocation["platform"] = "any"): HostLocation => ({
  scope: "user",
  platform,
  path,
});

/** As the hosts documented it in 2026. */
export const HOSTS: Readonly<Record<HostName, HostFacts>> = {
  "claude-desktop": {
    title: "Claude Desktop",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    locations: [
      user("~/Library/Application Support/Claude/claude_desktop_config.json", "macOS"),
      user("%APPDATA%\\Claude\\claude_desktop_config.json", "Windows"),
      user("~/.config/Claude/claude_desktop_config.json", "Linux"),
    ],
    notes: ["Quit and reopen Claude Desktop afterwards."],
  },
  "claude-code": {
    title: "Claude Code",
    documentation: "https://code.claude.com/docs/en/mcp",
    locations: [project(".mcp.json"), user("~/.claude.json")],
    secret: (name) => `\${${name}}`,
    replaces: /\$\{/,
    notes: ["For all your projects, use --scope user instead of --scope project."],
  },
  vscode: {
    title: "VS Code",
    documentation: "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
    locations: [
      project(".vscode/mcp.json"),
      user("~/Library/Application Support/Code/User/mcp.json", "macOS"),
      user("~/.config/Code/User/mcp.json", "Linux"),
      user("%APPDATA%\\Code\\User\\mcp.json", "Windows"),
    ],
    secret: (name) => `\${input:${inputId(name)}}`,
    replaces: /\$\{/,
  },
  cursor: {
    title: "Cursor",
    documentation: "https://cursor.com/docs/mcp",
    locations: [project(".cursor/mcp.json"), user("~/.cursor/mcp.json")],
    secret: (name) => `\${env:${name}}`,
    replaces: /\$\{/,
  },
  codex: {
    title: "Codex",
    documentation: "https://developers.openai.com/codex/mcp",
    locations: [user("~/.codex/config.toml"), project(".codex/config.toml")],
    secret: (name) => name,
    notes: ["Codex reads a project's file only in projects that you trust."],
  },
  gemini: {
    title: "Gemini CLI",
    documentation: "https://geminicli.com/docs/tools/mcp-server",
    locations: [project(".gemini/settings.json"), user("~/.gemini/settings.json")],
    secret: (name) => `\${${name}}`,
    replaces: /\$[A-Za-z_{]/,
    notes: [
      "Since 2026-06-18, Gemini CLI works with enterprise licenses and API keys only; Antigravity CLI replaces it for other accounts.",
    ],
  },
  windsurf: {
    title: "Windsurf",
    documentation: "https://docs.windsurf.com/windsurf/cascade/mcp",
    locations: [user("~/.codeium/windsurf/mcp_config.json")],
    secret: (name) => `\${env:${name}}`,
    replaces: /\$\{/,
    notes: [
      "Press the refresh button in the MCP panel afterwards.",
      "Windsurf is now Devin Desktop, whose newer versions read ~/.config/devin/mcp_config.json (on Windows %APPDATA%\\devin\\mcp_config.json).",
    ],
  },
  zed: {
    title: "Zed",
    documentation: "https://zed.dev/docs/ai/mcp",
    locations: [
      user("~/.config/zed/settings.json", "macOS"),
      user("~/.config/zed/settings.json", "Linux"),
      user("%APPDATA%\\Zed\\settings.json", "Windows"),
    ],
  },
};

/** The id under which VS Code keeps an input: `DATABASE_URL` → `database-url`. */
export function inputId(variable: string): string {
  return variable.toLowerCase().replaceAll("_", "-");
}
