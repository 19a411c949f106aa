import {
  BRACES,
  braced,
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
  unlessEmpty,
} from "./facts.ts";

const COPILOT_IDES =
  "https://github.com/github/github-mcp-server/blob/main/docs/installation-guides/install-other-copilot-ides.md";

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
  "visual-studio": {
    title: "Visual Studio",
    documentation: "https://learn.microsoft.com/visualstudio/ide/mcp-servers",
    sources: [COPILOT_IDES],
    checked: "2026-11-27",
    places: [
      ...inProject(".mcp.json", ".vs/mcp.json"),
      ...on("Windows", "%USERPROFILE%\\.mcp.json"),
    ].map((place) => ({ ...place, platform: "Windows" as const })),
    key: "servers",
    entry: typedEntry,
    restart: "Select the server's tools in the tool picker of Copilot Chat, in agent mode.",
    notes: [
      "Visual Studio 17.14 or newer. The project's file is in the solution's folder, and has the same name as Claude Code's, but another key: one file may have both.",
    ],
  },
  "dev-container": {
    title: "Dev Container",
    documentation: "https://code.visualstudio.com/docs/agent-customization/mcp-servers",
    checked: "2026-11-27",
    places: inProject(".devcontainer/devcontainer.json", ".devcontainer.json"),
    key: ["customizations", "vscode", "mcp", "servers"],
    format: "jsonc",
    entry: typedEntry,
    restart: "Rebuild the container afterwards.",
    notes: ["The container needs Node.js, and the paths of the entry are those in the container."],
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
  antigravity: {
    title: "Antigravity",
    documentation: "https://antigravity.google/docs/mcp",
    checked: "2026-09-25",
    places: [
      ...inProject(".agents/mcp_config.json"),
      ...inHome("~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"),
    ],
    restart: "In the IDE, press Refresh under … > MCP Servers > Manage afterwards.",
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
  },
  "jetbrains-ai": {
    title: "JetBrains AI Assistant",
    documentation: "https://www.jetbrains.com/help/ai-assistant/mcp.html",
    checked: "2026-09-25",
    places: [],
    dialog: "Settings > Tools > AI Assistant > Model Context Protocol (MCP) > Add > As JSON",
    restart: "Press Apply afterwards.",
    notes: ["It can also import the servers of Claude Desktop."],
  },
  "copilot-jetbrains": {
    title: "Copilot in JetBrains IDEs",
    documentation:
      "https://docs.github.com/en/copilot/how-tos/provide-context/use-mcp/extend-copilot-chat-with-mcp",
    sources: [COPILOT_IDES, "https://github.com/microsoft/apm/issues/1225"],
    checked: "2026-11-27",
    places: [
      ...onUnix("~/.config/github-copilot/intellij/mcp.json"),
      ...on("Windows", "%LOCALAPPDATA%\\github-copilot\\intellij\\mcp.json"),
    ],
    key: "servers",
    restart: "Save the file: Copilot starts its servers again.",
    notes: ["Copilot's icon > Edit Settings > Model Context Protocol > Configure opens the file."],
  },
  "copilot-xcode": {
    title: "Copilot for Xcode",
    documentation: "https://github.com/github/CopilotForXcode",
    sources: [COPILOT_IDES],
    checked: "2026-11-27",
    places: on("macOS", "~/.config/github-copilot/xcode/mcp.json"),
    key: "servers",
    entry: typedEntry,
    restart: "Open Tools > MCP in the Copilot app afterwards.",
    notes: ["MCP Configuration > Edit Config opens the file."],
  },
  "copilot-eclipse": {
    title: "Copilot in Eclipse",
    documentation: "https://marketplace.eclipse.org/content/github-copilot",
    sources: [COPILOT_IDES],
    checked: "2026-11-27",
    places: [],
    dialog: "Edit Preferences > GitHub Copilot > MCP",
    key: "servers",
    restart: "Press Apply and Close afterwards.",
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
  roo: {
    title: "Roo Code",
    documentation:
      "https://github.com/RooCodeInc/Roo-Code-Docs/blob/main/docs/features/mcp/using-mcp-in-roo.mdx",
    checked: "2026-11-27",
    places: [
      ...inProject(".roo/mcp.json"),
      ...inExtension("rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    ],
    replaces: /\$\{env:/,
    restart: "Roo Code starts the server when the file is saved.",
    notes: ["Roo Code is no longer developed. Its MCP icon > Edit Global MCP opens the file."],
  },
  kilo: {
    title: "Kilo Code",
    documentation: "https://kilo.ai/docs/automate/mcp/using-in-kilo-code",
    checked: "2026-11-27",
    places: [
      ...inProject("kilo.jsonc", "kilo.json", ".kilo/kilo.jsonc", ".kilo/kilo.json"),
      ...inHome("~/.config/kilo/kilo.jsonc", "~/.config/kilo/kilo.json"),
    ],
    key: "mcp",
    format: "jsonc",
    entry: ({ command, args }, { all }) => ({
      type: "local",
      command: [command, ...args],
      ...unlessEmpty("environment", all),
      enabled: true,
    }),
    secret: (name) => `{env:${name}}`,
    replaces: /\{(?:env|file):/,
    restart:
      "Check the server with kilo mcp list, or in the settings of its panel, under MCP Servers.",
  },
  continue: {
    title: "Continue",
    documentation: "https://docs.continue.dev/customize/deep-dives/mcp",
    checked: "2026-11-27",
    places: inProject(".continue/mcpServers/mcp.json"),
    restart: "Continue uses the server in agent mode.",
    notes: [
      "For all your projects, add the server to the list mcpServers in ~/.continue/config.yaml.",
    ],
  },
  kiro: {
    title: "Kiro",
    documentation: "https://kiro.dev/docs/mcp/configuration/",
    checked: "2026-11-27",
    places: [...inProject(".kiro/settings/mcp.json"), ...inHome("~/.kiro/settings/mcp.json")],
    secret: braced,
    replaces: BRACES,
    link: pageLink("https://kiro.dev/launch/mcp/add"),
    restart: "Kiro connects when the file is saved.",
    notes: [
      "The IDE replaces only the variables of its setting “Mcp Approved Env Vars”. Kiro CLI, formerly Amazon Q Developer CLI, reads the same files.",
    ],
  },
  trae: {
    title: "Trae",
    documentation: "https://docs.trae.ai/ide/add-mcp-servers",
    checked: "2026-09-25",
    places: inProject(".trae/mcp.json"),
    restart: "Turn on Settings > MCP > Enable Project MCP once.",
    notes: ["For all your projects, paste the entry under Settings > MCP > Add > Raw Config."],
  },
  tabnine: {
    title: "Tabnine",
    documentation:
      "https://docs.tabnine.com/main/getting-started/tabnine-agent/mcp-intro-and-setup/mcp-server-config",
    checked: "2026-09-25",
    places: [
      ...inProject(".tabnine/agent/settings.json", ".tabnine/mcp_servers.json"),
      ...inHome("~/.tabnine/agent/settings.json", "~/.tabnine/mcp_servers.json"),
    ],
    restart: "Check the server in the MCP settings of the Tabnine Agent.",
  },
  bob: {
    title: "IBM Bob",
    documentation: "https://bob.ibm.com/docs/ide/configuration/mcp/mcp-in-bob",
    checked: "2026-09-25",
    places: [...inProject(".bob/mcp.json"), ...inHome("~/.bob/mcp.json")],
    restart: "Bob reloads the file when it is saved.",
  },
  devin: {
    title: "Devin Desktop",
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
  windsurf: {
    title: "Windsurf",
    documentation: "https://docs.windsurf.com/windsurf/cascade/mcp",
    checked: "2026-09-25",
    places: inHome("~/.codeium/windsurf/mcp_config.json"),
    secret: bracedEnv,
    replaces: BRACES,
    restart: "Press Refresh in the MCP panel of Cascade afterwards.",
    notes: [
      "Windsurf became Devin Desktop in June 2026, which still reads this file. For newer versions use devin.",
    ],
  },
} satisfies Readonly<Record<string, HostFacts>>;
