import type { HostName } from "@refmcp/core/internal/define/common-options";
import type { Json } from "./text-layout.ts";

export interface HostLocation {
  /** `project`: relative to its folder; `user`: for all projects. */
  readonly scope: "project" | "user";
  readonly platform: "any" | "macOS" | "Linux" | "Windows";
  /** In the platform's notation; for `any`, `~` is the home directory. */
  readonly path: string;
  /** Which installation reads this file, if several differ. */
  readonly installation?: string;
}

/** A program with its arguments. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** The variables of an entry. */
export interface EntryVariables {
  /** All variables; a secret's value refers to where the host gets it. */
  readonly all: Readonly<Record<string, string>>;
  /** Those that are not secrets. */
  readonly plain: Readonly<Record<string, string>>;
  /** The names of the secrets. */
  readonly secrets: readonly string[];
}

/** Facts about a host. */
export interface HostFacts {
  readonly title: string;
  /** The host's documentation of the format. */
  readonly documentation: string;
  /** When these facts were last compared with the host's documentation or source. */
  readonly checked: string;
  readonly locations: readonly HostLocation[];
  /** The key of the file that lists servers, or the keys on the way to it; default: `mcpServers`. */
  readonly key?: string | readonly string[];
  /** Default: `json`. */
  readonly format?: "toml" | "yaml";
  /** Builds the entry of a server, if it differs from `command`, `args` and `env`. */
  readonly entry?: (start: Launch, variables: EntryVariables, serverKey: string) => { [key: string]: Json };
  /** How an entry refers to a secret that the host gets elsewhere. If absent, the user pastes it into the file. */
  readonly secret?: (name: string) => string;
  /** Matches what the host treats as a variable in an argument. */
  readonly replaces?: RegExp;
  /** The host's own command that adds a server, up to `--`; undefined if it cannot set these variables. */
  readonly adds?: (serverKey: string, variables: readonly string[]) => readonly string[] | undefined;
  /** Whether the host starts programs through a shell on Windows, and so finds `npx`. */
  readonly findsNpxOnWindows?: boolean;
  readonly notes?: readonly string[];
  /** Notes for Windows only. */
  readonly windowsNotes?: readonly string[];
}

const project = (path: string): HostLocation => ({ scope: "project", platform: "any", path });
const user = (path: string, platform: HostLocation["platform"] = "any"): HostLocation => ({
  scope: "user",
  platform,
  path,
});
/** A path below the home directory on macOS and Linux, and one on Windows. */
const userOf = (posix: string, windows: string): HostLocation[] => [
  user(posix, "macOS"),
  user(posix, "Linux"),
  user(windows, "Windows"),
];
const braced = (name: string) => `\${${name}}`;

/** Facts from each host's documentation. Install links are built in `host-entry.ts`. */
export const HOSTS: Readonly<Record<HostName, HostFacts>> = {
  "claude-desktop": {
    title: "Claude Desktop",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    checked: "2026-11",
    locations: [
      user("~/Library/Application Support/Claude/claude_desktop_config.json", "macOS"),
      // Since February 2026 the app is an MSIX package, which never reads the file in %APPDATA%
      // (anthropics/claude-code#25579).
      {
        ...user(
          "%LOCALAPPDATA%\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json",
          "Windows",
        ),
        installation: "installed since February 2026",
      },
      { ...user("%APPDATA%\\Claude\\claude_desktop_config.json", "Windows"), installation: "older" },
      user("~/.config/Claude/claude_desktop_config.json", "Linux"),
    ],
    notes: ["Quit and reopen Claude Desktop afterwards."],
    // anthropics/claude-code#26073
    windowsNotes: [
      "If the folder %LOCALAPPDATA%\\Packages\\Claude_pzs8sxrjxfjjc exists, Claude Desktop reads only the file in it, even if Edit Config opens the other one.",
    ],
  },
  "claude-code": {
    title: "Claude Code",
    documentation: "https://code.claude.com/docs/en/mcp",
    checked: "2026-11",
    locations: [project(".mcp.json"), user("~/.claude.json")],
    secret: braced,
    replaces: /\$\{/,
    // `--env` consumes every word up to the next option.
    adds: (name, variables) => ["claude", "mcp", "add", ...variables, "--scope", "project", name],
    notes: ["For all your projects, use --scope user instead of --scope project."],
  },
  vscode: {
    title: "VS Code",
    documentation: "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
    checked: "2026-11",
    locations: [
      project(".vscode/mcp.json"),
      user("~/Library/Application Support/Code/User/mcp.json", "macOS"),
      user("~/.config/Code/User/mcp.json", "Linux"),
      user("%APPDATA%\\Code\\User\\mcp.json", "Windows"),
    ],
    key: "servers",
    entry: (start, { all }) => ({ type: "stdio", ...ordinaryEntry(start, all) }),
    secret: (name) => `\${input:${inputId(name)}}`,
    replaces: /\$\{/,
  },
  cursor: {
    title: "Cursor",
    documentation: "https://cursor.com/docs/mcp",
    checked: "2026-11",
    locations: [project(".cursor/mcp.json"), user("~/.cursor/mcp.json")],
    secret: (name) => `\${env:${name}}`,
    replaces: /\$\{/,
  },
  codex: {
    title: "Codex",
    documentation: "https://developers.openai.com/codex/mcp",
    checked: "2026-11",
    locations: [user("~/.codex/config.toml"), project(".codex/config.toml")],
    key: "mcp_servers",
    format: "toml",
    // Codex takes secrets from its own environment; `env_vars` lists those that it passes on.
    entry: ({ command, args }, { plain, secrets }) => ({
      command,
      args,
      ...(secrets.length > 0 && { env_vars: secrets }),
      ...(Object.keys(plain).length > 0 && { env: plain }),
    }),
    secret: (name) => name,
    adds: (name, variables) => ["codex", "mcp", "add", name, ...variables],
    notes: ["Codex reads a project's file only in projects that you trust."],
  },
  gemini: {
    title: "Gemini CLI",
    documentation: "https://geminicli.com/docs/tools/mcp-server",
    checked: "2026-11",
    locations: [project(".gemini/settings.json"), user("~/.gemini/settings.json")],
    secret: braced,
    replaces: /\$[A-Za-z_{]/,
    notes: [
      "Since 2026-06-18, Gemini CLI works with enterprise licenses and API keys only; Antigravity CLI replaces it for other accounts.",
    ],
  },
  antigravity: {
    title: "Antigravity",
    documentation: "https://antigravity.google/docs/mcp",
    checked: "2026-09",
    locations: [project(".agents/mcp_config.json"), user("~/.gemini/config/mcp_config.json")],
    notes: ["In the IDE, press Refresh under … > MCP Servers > Manage afterwards."],
  },
  "copilot-cli": {
    title: "Copilot CLI",
    documentation: "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
    checked: "2026-08",
    locations: [project(".github/mcp.json"), user("~/.copilot/mcp-config.json")],
    entry: (start, { all }) => ({ type: "local", ...ordinaryEntry(start, all), tools: ["*"] }),
    secret: braced,
    replaces: /\$[A-Za-z_{]/,
    adds: (name, variables) => ["copilot", "mcp", "add", name, ...variables],
    notes: ["Run /mcp reload afterwards. A project's file is read only in folders that you trust."],
  },
  zed: {
    title: "Zed",
    documentation: "https://zed.dev/docs/ai/mcp",
    checked: "2026-11",
    locations: userOf("~/.config/zed/settings.json", "%APPDATA%\\Zed\\settings.json"),
    key: "context_servers",
  },
  junie: {
    title: "Junie",
    documentation: "https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html",
    checked: "2026-09",
    locations: [project(".junie/mcp/mcp.json"), user("~/.junie/mcp/mcp.json")],
    notes: [
      "JetBrains AI Assistant has no configuration file: paste the entry under Settings > Tools > AI Assistant > Model Context Protocol.",
    ],
  },
  opencode: {
    title: "OpenCode",
    documentation: "https://opencode.ai/v2/docs/mcp-servers",
    checked: "2026-09",
    locations: [project("opencode.json"), user("~/.config/opencode/opencode.json")],
    key: ["mcp", "servers"],
    entry: ({ command, args }, { all }) => ({
      type: "local",
      command: [command, ...args],
      ...(Object.keys(all).length > 0 && { environment: all }),
    }),
    secret: (name) => `{env:${name}}`,
    replaces: /\{(?:env|file):/,
    adds: (name, variables) => ["opencode", "mcp", "add", name, ...variables],
    notes: [
      "This is the format of OpenCode 2. OpenCode 1 lists servers directly under mcp, without servers.",
    ],
  },
  cline: {
    title: "Cline",
    documentation: "https://docs.cline.bot/mcp/mcp-overview",
    checked: "2026-08",
    locations: [user("~/.cline/data/settings/cline_mcp_settings.json")],
    replaces: /\$\{env:/,
    adds: (name, { length }) => (length > 0 ? undefined : ["cline", "mcp", "install", name, "--yes"]),
    notes: ["In VS Code, MCP Servers > Configure opens the file; older versions keep it elsewhere."],
  },
  goose: {
    title: "Goose",
    documentation: "https://goose-docs.ai/docs/guides/config-files/",
    checked: "2026-09",
    locations: userOf("~/.config/goose/config.yaml", "%APPDATA%\\Block\\goose\\config\\config.yaml"),
    key: "extensions",
    format: "yaml",
    entry: ({ command, args }, { plain, secrets }, name) => ({
      type: "stdio",
      name,
      enabled: true,
      cmd: command,
      args,
      ...(secrets.length > 0 && { env_keys: secrets }),
      ...(Object.keys(plain).length > 0 && { envs: plain }),
      timeout: 300,
    }),
    secret: (name) => name,
    notes: ["Start a new session afterwards."],
  },
  "lm-studio": {
    title: "LM Studio",
    documentation: "https://lmstudio.ai/docs/app/mcp",
    checked: "2026-04",
    locations: [user("~/.lmstudio/mcp.json")],
    notes: ["Program > Install > Edit mcp.json opens the file; its location depends on the version."],
  },
  kiro: {
    title: "Kiro",
    documentation: "https://kiro.dev/docs/mcp/configuration/",
    checked: "2026-10",
    locations: [project(".kiro/settings/mcp.json"), user("~/.kiro/settings/mcp.json")],
    secret: braced,
    replaces: /\$\{/,
    notes: ["The IDE replaces only the variables of its setting “Mcp Approved Env Vars”."],
  },
  warp: {
    title: "Warp",
    documentation: "https://docs.warp.dev/agents/capabilities/mcp",
    checked: "2026-08",
    locations: [project(".warp/.mcp.json"), user("~/.warp/.mcp.json")],
    secret: braced,
    replaces: /\$\{|\{\{/,
    findsNpxOnWindows: true,
    notes: [
      "A project's servers do not start automatically: start them under Settings > Agents > MCP servers.",
      "If a variable used in the file is not set, Warp loads none of its servers.",
    ],
  },
  amp: {
    title: "Amp",
    documentation: "https://ampcode.com/docs/customize/mcp",
    checked: "2026-09",
    locations: [
      project(".amp/settings.json"),
      ...userOf("~/.config/amp/settings.json", "%APPDATA%\\amp\\settings.json"),
    ],
    key: "amp.mcpServers",
    secret: braced,
    replaces: /\$\{/,
    notes: ["A project's server runs after amp mcp approve NAME."],
  },
  devin: {
    title: "Devin Desktop",
    documentation: "https://docs.devin.ai/cli/extensibility/mcp/configuration",
    checked: "2026-09",
    locations: [
      project(".devin/mcp_config.json"),
      ...userOf("~/.config/devin/mcp_config.json", "%APPDATA%\\devin\\mcp_config.json"),
    ],
    adds: (name, { length }) => (length > 0 ? undefined : ["devin", "mcp", "add", "-s", "project", name]),
    notes: ["A project's secrets belong in .devin/mcp_config.local.json, which git ignores."],
  },
  windsurf: {
    title: "Windsurf",
    documentation: "https://docs.windsurf.com/windsurf/cascade/mcp",
    checked: "2026-09",
    locations: [user("~/.codeium/windsurf/mcp_config.json")],
    secret: (name) => `\${env:${name}}`,
    replaces: /\$\{/,
    notes: [
      "Windsurf became Devin Desktop in June 2026, which still reads this file. For newer versions use devin.",
    ],
  },
};

/** `command`, `args` and, if there are any, `env`. */
export function ordinaryEntry(
  { command, args }: Launch,
  all: EntryVariables["all"],
): { [key: string]: Json } {
  return { command, args, ...(Object.keys(all).length > 0 && { env: all }) };
}

/** The id of an input in VS Code: `DATABASE_URL` → `database-url`. */
export function inputId(variable: string): string {
  return variable.toLowerCase().replaceAll("_", "-");
}
