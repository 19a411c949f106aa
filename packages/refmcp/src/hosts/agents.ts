import {
  BRACES,
  braced,
  type HostFacts,
  inHome,
  inProject,
  itself,
  ordinaryEntry,
  SHELL_VARIABLES,
  unlessEmpty,
} from "./facts.ts";

/** Agents at the terminal. */
export const AGENTS = {
  "claude-code": {
    title: "Claude Code",
    documentation: "https://code.claude.com/docs/en/mcp",
    checked: "2026-11-27",
    places: [...inProject(".mcp.json"), ...inHome("~/.claude.json")],
    secret: braced,
    replaces: BRACES,
    // `--env` consumes every word up to the next option.
    adds: "claude mcp add ENV --scope project NAME",
    restart: "Start a new session, and check the server with /mcp.",
    notes: ["For all your projects, use --scope user instead of --scope project."],
  },
  codex: {
    title: "Codex",
    documentation: "https://developers.openai.com/codex/mcp",
    checked: "2026-11-27",
    places: [...inHome("~/.codex/config.toml"), ...inProject(".codex/config.toml")],
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
    restart: "Start a new session, and check the server with /mcp.",
    notes: ["Codex reads a project's file only in projects that you trust."],
  },
  gemini: {
    title: "Gemini CLI",
    documentation: "https://geminicli.com/docs/tools/mcp-server",
    checked: "2026-11-27",
    places: [...inProject(".gemini/settings.json"), ...inHome("~/.gemini/settings.json")],
    secret: braced,
    replaces: SHELL_VARIABLES,
    restart: "Start a new session, and check the server with /mcp.",
    notes: [
      "Since 2026-06-18, Gemini CLI works with enterprise licenses and API keys only; Antigravity replaces it for other accounts, and takes the same entry in ~/.gemini/config/mcp_config.json.",
    ],
  },
  "copilot-cli": {
    title: "Copilot CLI",
    documentation:
      "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
    checked: "2026-11-27",
    places: [
      ...inProject(".github/mcp.json", ".mcp.json"),
      ...inHome("~/.copilot/mcp-config.json"),
    ],
    entry: (start, variables) => ({
      type: "local",
      ...ordinaryEntry(start, variables),
      tools: ["*"],
    }),
    secret: braced,
    replaces: SHELL_VARIABLES,
    adds: "copilot mcp add NAME ENV",
    restart: "Run /mcp reload afterwards.",
    notes: ["A project's file is read only in folders that you trust."],
  },
  opencode: {
    title: "OpenCode",
    documentation: "https://opencode.ai/v2/docs/mcp-servers",
    checked: "2026-11-27",
    places: [
      ...inProject(
        "opencode.json",
        "opencode.jsonc",
        ".opencode/opencode.json",
        ".opencode/opencode.jsonc",
      ),
      ...inHome("~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"),
    ],
    key: ["mcp", "servers"],
    format: "jsonc",
    entry: ({ command, args }, { all }) => ({
      type: "local",
      command: [command, ...args],
      ...unlessEmpty("environment", all),
    }),
    secret: (name) => `{env:${name}}`,
    replaces: /\{(?:env|file):/,
    adds: "opencode mcp add NAME ENV",
    restart: "Restart OpenCode, and check the server with opencode mcp list.",
    notes: [
      "This is the format of OpenCode 2. OpenCode 1 lists servers directly under mcp, without servers.",
    ],
  },
} satisfies Readonly<Record<string, HostFacts>>;
