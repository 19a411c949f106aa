import { type HostFacts, inHome, itself, on, onUnix, pageLink, readBy, unlessEmpty } from "./facts.ts";

/** Desktop and web apps. */
export const APPS = {
  "claude-desktop": {
    title: "Claude Desktop",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    sources: [
      "https://github.com/anthropics/claude-code/issues/25579",
      "https://github.com/anthropics/claude-code/issues/26073",
    ],
    checked: "2026-11",
    restart: "Restart Claude Desktop afterwards.",
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
    notes: ["Quit and reopen Claude Desktop afterwards."],
    windowsNotes: [
      "If the folder %LOCALAPPDATA%\\Packages\\Claude_pzs8sxrjxfjjc exists, Claude Desktop reads only the file in it, even if Edit Config opens the other one.",
    ],
  },
  goose: {
    title: "Goose",
    documentation: "https://goose-docs.ai/docs/guides/config-files/",
    checked: "2026-09",
    restart: "Restart Goose afterwards.",
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
    notes: ["Start a new session afterwards."],
  },
  "lm-studio": {
    title: "LM Studio",
    documentation: "https://lmstudio.ai/docs/app/mcp",
    checked: "2026-04",
    restart: "Restart LM Studio afterwards.",
    places: [...inHome("~/.lmstudio/mcp.json")],
    link: pageLink("https://lmstudio.ai/install-mcp", "base64"),
    notes: ["Program > Install > Edit mcp.json opens the file; its location depends on the version."],
  },
} satisfies Readonly<Record<string, HostFacts>>;
