/** The hosts that `--print-config` knows, in the order of the documentation. The last is for any other host. */
export const HOST_NAMES = [
  "claude-desktop",
  "claude-code",
  "vscode",
  "cursor",
  "codex",
  "gemini",
  "copilot-cli",
  "zed",
  "junie",
  "opencode",
  "cline",
  "goose",
  "lm-studio",
  "devin",
  "json",
] as const;
export type HostName = (typeof HOST_NAMES)[number];
