import type { HostName } from "@refmcp/core/internal/define/common-options";

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface EntryVariables {
  /** All variables; a secret's value refers to where the host gets it. */
  readonly all: Readonly<Record<string, string>>;
  /** Those that are not secrets. */
  readonly plain: Readonly<Record<string, string>>;
  /** The names of the secrets. */
  readonly secrets: readonly string[];
}

export interface HostFacts {
  readonly title: string;
  /** The host's documentation of the format. */
  readonly documentation: string;
  /** When these facts were last compared with the host's documentation or source. */
  readonly checked: string;
  /**
   * The configuration files, relative ones in a project. Those below `~/Library` are macOS's and those with a variable
   * Windows's; another in the home directory is for the rest. With the installation that reads it, if several differ.
   */
  readonly files: readonly (string | readonly [path: string, installation: string])[];
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
  /**
   * The host's own command that adds the server NAME with the variables ENV, up to `--`. Without ENV it cannot set
   * variables.
   */
  readonly adds?: string;
  /** Whether the host starts programs through a shell on Windows, and so finds `npx`. */
  readonly findsNpxOnWindows?: boolean;
  /** The page that installs the server whose entry is in its query, as JSON or in base64. */
  readonly link?: { readonly page: string; readonly isBase64?: true };
  readonly notes?: readonly string[];
  readonly windowsNotes?: readonly string[];
}

const braced = (name: string) => `\${${name}}`;
const bracedEnv = (name: string) => `\${env:${name}}`;
const itself = (name: string) => name;
/** What such hosts replace in arguments. */
const BRACES = /\$\{/;
const SHELL_VARIABLES = /\$[A-Za-z_{]/;
/** The member `name` of an entry, unless its value is empty. */
const unlessEmpty = (name: string, value: readonly string[] | EntryVariables["all"]) =>
  Object.keys(value).length > 0 && { [name]: value };

/** Facts from each host's documentation, one row a host. */
export const HOSTS: Readonly<Record<HostName, HostFacts>> = {
  "claude-desktop": {
    title: "Claude Desktop",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    checked: "2026-11",
    files: [
      "~/Library/Application Support/Claude/claude_desktop_config.json",
      // Since February 2026 the app is an MSIX package, which never reads the file in %APPDATA%
      // (anthropics/claude-code#25579).
      [
        "%LOCALAPPDATA%\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json",
        "installed since February 2026",
      ],
      ["%APPDATA%\\Claude\\claude_desktop_config.json", "older"],
      "~/.config/Claude/claude_desktop_config.json",
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
    files: [".mcp.json", "~/.claude.json"],
    secret: braced,
    replaces: BRACES,
    // `--env` consumes every word up to the next option.
    adds: "claude mcp add ENV --scope project NAME",
    notes: ["For all your projects, use --scope user instead of --scope project."],
  },
  vscode: {
    title: "VS Code",
    documentation: "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
    checked: "2026-11",
    files: [
      ".vscode/mcp.json",
      "~/Library/Application Support/Code/User/mcp.json",
      "~/.config/Code/User/mcp.json",
      "%APPDATA%\\Code\\User\\mcp.json",
    ],
    key: "servers",
    entry: (start, variables) => ({ type: "stdio", ...ordinaryEntry(start, variables) }),
    secret: (name) => `\${input:${inputId(name)}}`,
    replaces: BRACES,
    link: { page: "https://insiders.vscode.dev/redirect/mcp/install" },
  },
  cursor: {
    title: "Cursor",
    documentation: "https://cursor.com/docs/mcp",
    checked: "2026-11",
    files: [".cursor/mcp.json", "~/.cursor/mcp.json"],
    secret: bracedEnv,
    replaces: BRACES,
    link: { page: "https://cursor.com/en/install-mcp", isBase64: true },
  },
  codex: {
    title: "Codex",
    documentation: "https://developers.openai.com/codex/mcp",
    checked: "2026-11",
    files: ["~/.codex/config.toml", ".codex/config.toml"],
    key: "mcp_servers",
    format: "toml",
    // Codex takes secrets from its own environment; `env_vars` lists those that it passes on.
    entry: ({ command, args }, { plain, secrets }) => ({
      command,
      args,
      ...unlessEmpty("env_vars", secrets),
      ...unlessEmpty("env", plain),
    }),
    secret: itself,
    adds: "codex mcp add NAME ENV",
    notes: ["Codex reads a project's file only in projects that you trust."],
  },
  gemini: {
    title: "Gemini CLI",
    documentation: "https://geminicli.com/docs/tools/mcp-server",
    checked: "2026-11",
    files: [".gemini/settings.json", "~/.gemini/settings.json"],
    secret: braced,
    replaces: SHELL_VARIABLES,
    notes: [
      "Since 2026-06-18, Gemini CLI works with enterprise licenses and API keys only; Antigravity CLI replaces it for other accounts.",
    ],
  },
  antigravity: {
    title: "Antigravity",
    documentation: "https://antigravity.google/docs/mcp",
    checked: "2026-09",
    files: [".agents/mcp_config.json", "~/.gemini/config/mcp_config.json"],
    notes: ["In the IDE, press Refresh under … > MCP Servers > Manage afterwards."],
  },
  "copilot-cli": {
    title: "Copilot CLI",
    documentation: "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
    checked: "2026-08",
    files: [".github/mcp.json", "~/.copilot/mcp-config.json"],
    entry: (start, variables) => ({ type: "local", ...ordinaryEntry(start, variables), tools: ["*"] }),
    secret: braced,
    replaces: SHELL_VARIABLES,
    adds: "copilot mcp add NAME ENV",
    notes: ["Run /mcp reload afterwards. A project's file is read only in folders that you trust."],
  },
  zed: {
    title: "Zed",
    documentation: "https://zed.dev/docs/ai/mcp",
    checked: "2026-11",
    files: ["~/.config/zed/settings.json", "%APPDATA%\\Zed\\settings.json"],
    key: "context_servers",
  },
  junie: {
    title: "Junie",
    documentation: "https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html",
    checked: "2026-09",
    files: [".junie/mcp/mcp.json", "~/.junie/mcp/mcp.json"],
    notes: [
      "JetBrains AI Assistant has no configuration file: paste the entry under Settings > Tools > AI Assistant > Model Context Protocol.",
    ],
  },
  opencode: {
    title: "OpenCode",
    documentation: "https://opencode.ai/v2/docs/mcp-servers",
    checked: "2026-09",
    files: ["opencode.json", "~/.config/opencode/opencode.json"],
    key: ["mcp", "servers"],
    entry: ({ command, args }, { all }) => ({
      type: "local",
      command: [command, ...args],
      ...unlessEmpty("environment", all),
    }),
    secret: (name) => `{env:${name}}`,
    replaces: /\{(?:env|file):/,
    adds: "opencode mcp add NAME ENV",
    notes: [
      "This is the format of OpenCode 2. OpenCode 1 lists servers directly under mcp, without servers.",
    ],
  },
  cline: {
    title: "Cline",
    documentation: "https://docs.cline.bot/mcp/mcp-overview",
    checked: "2026-08",
    files: ["~/.cline/data/settings/cline_mcp_settings.json"],
    replaces: /\$\{env:/,
    adds: "cline mcp install NAME --yes",
    notes: ["In VS Code, MCP Servers > Configure opens the file; older versions keep it elsewhere."],
  },
  goose: {
    title: "Goose",
    documentation: "https://goose-docs.ai/docs/guides/config-files/",
    checked: "2026-09",
    files: ["~/.config/goose/config.yaml", "%APPDATA%\\Block\\goose\\config\\config.yaml"],
    key: "extensions",
    format: "yaml",
    entry: ({ command, args }, { plain, secrets }, name) => ({
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
    notes: ["Start a new session afterwards."],
  },
  "lm-studio": {
    title: "LM Studio",
    documentation: "https://lmstudio.ai/docs/app/mcp",
    checked: "2026-04",
    files: ["~/.lmstudio/mcp.json"],
    link: { page: "https://lmstudio.ai/install-mcp", isBase64: true },
    notes: ["Program > Install > Edit mcp.json opens the file; its location depends on the version."],
  },
  kiro: {
    title: "Kiro",
    documentation: "https://kiro.dev/docs/mcp/configuration/",
    checked: "2026-10",
    files: [".kiro/settings/mcp.json", "~/.kiro/settings/mcp.json"],
    secret: braced,
    replaces: BRACES,
    link: { page: "https://kiro.dev/launch/mcp/add" },
    notes: ["The IDE replaces only the variables of its setting “Mcp Approved Env Vars”."],
  },
  warp: {
    title: "Warp",
    documentation: "https://docs.warp.dev/agents/capabilities/mcp",
    checked: "2026-08",
    files: [".warp/.mcp.json", "~/.warp/.mcp.json"],
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
    files: [".amp/settings.json", "~/.config/amp/settings.json", "%APPDATA%\\amp\\settings.json"],
    key: "amp.mcpServers",
    secret: braced,
    replaces: BRACES,
    notes: ["A project's server runs after amp mcp approve NAME."],
  },
  devin: {
    title: "Devin Desktop",
    documentation: "https://docs.devin.ai/cli/extensibility/mcp/configuration",
    checked: "2026-09",
    files: [".devin/mcp_config.json", "~/.config/devin/mcp_config.json", "%APPDATA%\\devin\\mcp_config.json"],
    adds: "devin mcp add -s project NAME",
    notes: ["A project's secrets belong in .devin/mcp_config.local.json, which git ignores."],
  },
  windsurf: {
    title: "Windsurf",
    documentation: "https://docs.windsurf.com/windsurf/cascade/mcp",
    checked: "2026-09",
    files: ["~/.codeium/windsurf/mcp_config.json"],
    secret: bracedEnv,
    replaces: BRACES,
    notes: [
      "Windsurf became Devin Desktop in June 2026, which still reads this file. For newer versions use devin.",
    ],
  },
};

/** `command`, `args` and, if there are any, `env`. */
export function ordinaryEntry({ command, args }: Launch, { all }: Pick<EntryVariables, "all">) {
  return { command, args, ...unlessEmpty("env", all) };
}

/** The id of an input in VS Code: `DATABASE_URL` → `database-url`. */
export function inputId(variable: string): string {
  return variable.toLowerCase().replaceAll("_", "-");
}
