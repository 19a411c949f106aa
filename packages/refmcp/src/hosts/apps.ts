import {
  type HostFacts,
  inHome,
  itself,
  on,
  onUnix,
  pageLink,
  queryValue,
  readBy,
  unlessEmpty,
} from "./facts.ts";

/** Desktop and web apps. */
export const APPS = {
  "claude-desktop": {
    title: "Claude Desktop",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    sources: [
      "https://github.com/anthropics/claude-code/issues/25579",
      "https://github.com/anthropics/claude-code/issues/26073",
    ],
    checked: "2026-11-27",
    places: [
      ...on("macOS", "~/Library/Application Support/Claude/claude_desktop_config.json"),
      // Since February 2026 the app is an MSIX package, which never reads the file in %APPDATA%.
      ...readBy(
        "installed since February 2026",
        on(
          "Windows",
          "%LOCALAPPDATA%\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json",
        ),
      ),
      ...readBy("older", on("Windows", "%APPDATA%\\Claude\\claude_desktop_config.json")),
      ...on("Linux", "~/.config/Claude/claude_desktop_config.json"),
    ],
    restart: "Quit Claude Desktop completely, from its menu bar or tray icon, and open it again.",
    windowsNotes: [
      "If the folder %LOCALAPPDATA%\\Packages\\Claude_pzs8sxrjxfjjc exists, Claude Desktop reads only the file in it, even if Edit Config opens the other one.",
    ],
  },
  goose: {
    title: "Goose",
    documentation: "https://goose-docs.ai/docs/guides/config-files/",
    checked: "2026-09-25",
    places: [
      ...onUnix("~/.config/goose/config.yaml"),
      ...on("Windows", "%APPDATA%\\Block\\goose\\config\\config.yaml"),
    ],
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
    // The app only starts programs of a short list from a link, and asks for every variable that the link names.
    link: (serverKey, { cmd, args, env_keys: secrets = [], envs }) => {
      if (cmd !== "npx" || envs !== undefined || !Array.isArray(args) || !Array.isArray(secrets))
        return undefined;
      const query = [
        ["cmd", "npx"],
        ...args.map((arg) => ["arg", String(arg)]),
        ["id", serverKey],
        ["name", serverKey],
        ["description", `The ${serverKey} server of refmcp`],
        ...secrets.map((name) => ["env", `${name}=${name}`]),
      ];
      return `goose://extension?${query.map(([name = "", value = ""]) => `${name}=${queryValue(value)}`).join("&")}`;
    },
    restart: "Start a new session afterwards.",
  },
  "lm-studio": {
    title: "LM Studio",
    documentation: "https://lmstudio.ai/docs/app/mcp",
    sources: ["https://lmstudio.ai/docs/app/mcp/deeplink"],
    checked: "2026-11-27",
    places: inHome("~/.lmstudio/mcp.json", "~/.cache/lm-studio/mcp.json"),
    link: pageLink("https://lmstudio.ai/install-mcp", "base64"),
    restart: "LM Studio reloads the file when it changes.",
    notes: [
      "Program > Install > Edit mcp.json opens the file; its location depends on the version.",
    ],
  },
  json: {
    title: "Any other host",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    checked: "2026-11-27",
    places: [],
    dialog: "the host's list of MCP servers",
    restart: "Restart the host afterwards.",
    notes: [
      "Most hosts use this form. Others have another name for mcpServers, or fields for the command, its arguments and its variables.",
    ],
  },
} satisfies Readonly<Record<string, HostFacts>>;
