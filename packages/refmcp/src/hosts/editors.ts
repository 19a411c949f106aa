import {
  BRACES,
  bracedEnv,
  type HostFacts,
  inHome,
  inProject,
  inputId,
  on,
  onUnix,
  pageLink,
  queryValue,
  typedEntry,
} from "./facts.ts";

/** Where an extension of VS Code keeps a file, per platform. */
const inExtension = (file: string) => [
  ...on("macOS", `~/Library/Application Support/Code/User/globalStorage/${file}`),
  ...on("Linux", `~/.config/Code/User/globalStorage/${file}`),
  ...on("Windows", `%APPDATA%\\Code\\User\\globalStorage\\${file.replaceAll("/", "\\")}`),
];

/** Editors and their extensions. */
export const EDITORS = {
  vscode: {
    title: "VS Code",
    documentation: "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
    sources: ["https://code.visualstudio.com/api/extension-guides/ai/mcp"],
    checked: "2026-11-27",
    places: [
      ...inProject(".vscode/mcp.json"),
      ...on(
        "macOS",
        "~/Library/Application Support/Code/User/mcp.json",
        "~/Library/Application Support/Code - Insiders/User/mcp.json",
      ),
      ...on("Linux", "~/.config/Code/User/mcp.json", "~/.config/Code - Insiders/User/mcp.json"),
      ...on(
        "Windows",
        "%APPDATA%\\Code\\User\\mcp.json",
        "%APPDATA%\\Code - Insiders\\User\\mcp.json",
      ),
    ],
    key: "servers",
    format: "jsonc",
    entry: typedEntry,
    secret: (name) => `\${input:${inputId(name)}}`,
    replaces: BRACES,
    adds: (name, entry) => ["code", "--add-mcp", JSON.stringify({ name, ...entry })],
    link: pageLink("https://insiders.vscode.dev/redirect/mcp/install"),
    appLink: (name, entry, inputs) =>
      `vscode:mcp/install?${queryValue(JSON.stringify({ name, ...entry, ...(inputs.length > 0 && { inputs }) }))}`,
    restart: "Run the command MCP: List Servers afterwards to start it and to see its output.",
  },
  cursor: {
    title: "Cursor",
    documentation: "https://cursor.com/docs/mcp",
    checked: "2026-11-27",
    places: [...inProject(".cursor/mcp.json"), ...inHome("~/.cursor/mcp.json")],
    secret: bracedEnv,
    replaces: BRACES,
    link: pageLink("https://cursor.com/en/install-mcp", "base64"),
    restart: "Restart Cursor, and check that the server is on under Customize > MCPs.",
  },
  zed: {
    title: "Zed",
    documentation: "https://zed.dev/docs/ai/mcp",
    checked: "2026-09-25",
    places: [
      ...inProject(".zed/settings.json"),
      ...onUnix("~/.config/zed/settings.json"),
      ...on("Windows", "%APPDATA%\\Zed\\settings.json"),
    ],
    key: "context_servers",
    format: "jsonc",
    restart: "Zed starts the server at once: it has a green dot under Settings > AI > MCP Servers.",
    notes: ["A project's servers start only in folders that you trust."],
  },
  junie: {
    title: "Junie",
    documentation: "https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html",
    checked: "2026-09-25",
    places: [...inProject(".junie/mcp/mcp.json"), ...inHome("~/.junie/mcp/mcp.json")],
    restart: "Check the server with /mcp, or under Settings > Tools > Junie > MCP Settings.",
    notes: [
      "JetBrains AI Assistant takes the same entry under Settings > Tools > AI Assistant > Model Context Protocol (MCP).",
    ],
  },
  cline: {
    title: "Cline",
    documentation: "https://docs.cline.bot/mcp/mcp-overview",
    checked: "2026-09-25",
    places: [
      ...inHome("~/.cline/data/settings/cline_mcp_settings.json"),
      ...inExtension("saoudrizwan.claude-dev/settings/cline_mcp_settings.json").map((place) => {
        return { ...place, alternative: true as const };
      }),
    ],
    replaces: /\$\{env:/,
    adds: "cline mcp install NAME --yes",
    restart: "Check the server in Cline's panel, under MCP Servers.",
    notes: [
      "In VS Code, MCP Servers > Configure opens the file; versions before 4 keep it elsewhere.",
    ],
  },
  devin: {
    title: "Devin Desktop (Windsurf)",
    documentation: "https://docs.devin.ai/cli/extensibility/mcp/configuration",
    checked: "2026-09-25",
    places: [
      ...inProject(".devin/mcp_config.json"),
      ...onUnix("~/.config/devin/mcp_config.json", "~/.codeium/windsurf/mcp_config.json"),
      ...on(
        "Windows",
        "%APPDATA%\\devin\\mcp_config.json",
        "%USERPROFILE%\\.codeium\\windsurf\\mcp_config.json",
      ),
    ],
    adds: "devin mcp add -s project NAME",
    restart: "Check the server in the MCP panel of Cascade, or start a new session of Devin CLI.",
    notes: ["A project's secrets belong in .devin/mcp_config.local.json, which git ignores."],
  },
} satisfies Readonly<Record<string, HostFacts>>;
