import { LOG_LEVELS } from "../log.ts";
import { defineOptions, type OptionValues } from "./options.ts";

/** The hosts that an entry can be printed for. */
export const HOST_NAMES = [
  "claude-desktop",
  "claude-code",
  "vscode",
  "cursor",
  "codex",
  "gemini",
  "windsurf",
  "zed",
] as const;
export type HostName = (typeof HOST_NAMES)[number];

/** Of every server that touches directories. */
export const directoryOptions = defineOptions({
  directories: {
    type: "directory",
    list: true,
    positional: true,
    flag: "root",
    heading: "Directories",
    ask: true,
    title: "Allowed directories",
    description: "A directory that the server may touch, with all below it.",
  },
  clientRoots: {
    type: "enum",
    flag: "roots",
    values: ["narrow", "replace", "off"],
    default: "narrow",
    heading: "Directories",
    description:
      "Whether the client's own roots narrow these directories (and stand in where none is given), replace them, or are ignored.",
  },
});

/** Of every server. */
export const commonOptions = defineOptions({
  readOnly: {
    type: "flag",
    heading: "Safety",
    title: "Read-only",
    description: "Offer only the tools that change nothing.",
  },
  confirm: {
    type: "enum",
    values: ["ask", "never"],
    default: "ask",
    heading: "Safety",
    description:
      "Whether the user is asked before something is lost for good; where the client cannot ask, ask refuses.",
  },
  tools: {
    type: "string",
    list: true,
    valueName: "LIST",
    heading: "Tools",
    description: "Offer only these tools.",
  },
  excludeTools: {
    type: "string",
    list: true,
    valueName: "LIST",
    heading: "Tools",
    description: "Do not offer these tools.",
  },
  timeoutMs: {
    type: "integer",
    min: 100,
    max: 3_600_000,
    default: 50_000,
    valueName: "MS",
    heading: "Limits",
    description: "Longest time of one call, in milliseconds; many hosts give up after 60,000.",
  },
  maxAnswerChars: {
    type: "integer",
    min: 1_000,
    max: 80_000,
    default: 20_000,
    heading: "Limits",
    description: "Most characters of one answer; what is cut says how to get the rest.",
  },
  maxMessageBytes: {
    type: "integer",
    min: 65_536,
    max: 1_073_741_824,
    default: 16 * 1_048_576,
    heading: "Limits",
    description: "Largest message that is read from the client, in bytes.",
  },
  http: {
    type: "string",
    valueName: "ADDRESS",
    heading: "HTTP",
    description:
      "Serve over Streamable HTTP at /mcp instead of over stdio, on [HOST:]PORT (host 127.0.0.1 by default) or on a Unix socket, unix:PATH.",
  },
  sse: {
    type: "flag",
    heading: "HTTP",
    description: "With --http, also serve the older HTTP+SSE transport of 2024-11-05, at /sse.",
  },
  websocket: {
    type: "flag",
    heading: "HTTP",
    description: "With --http, also serve WebSocket connections (subprotocol mcp), at /mcp.",
  },
  tlsCert: {
    type: "file",
    heading: "HTTP",
    description: "Serve HTTPS with this certificate chain (PEM); it is read again when it changes.",
  },
  tlsKey: {
    type: "file",
    heading: "HTTP",
    description: "The private key of the certificate (PEM).",
  },
  allowPlainHttp: {
    type: "flag",
    heading: "HTTP",
    description:
      "Serve plain HTTP on an address that other machines can reach, for example behind a proxy that adds TLS.",
  },
  authTokenEnv: {
    type: "string",
    valueName: "NAME",
    heading: "HTTP",
    description: "Environment variable that holds the bearer token that every request must carry.",
  },
  oauthIssuer: {
    type: "url",
    heading: "HTTP",
    description: "Authorization server whose access tokens are accepted (OAuth 2.1, JWT).",
  },
  oauthAudience: {
    type: "url",
    heading: "HTTP",
    description: "This server's own URL as clients know it, which access tokens must be issued for.",
  },
  oauthScopes: {
    type: "string",
    list: true,
    flag: "oauth-scope",
    valueName: "LIST",
    heading: "HTTP",
    description: "Scopes that an access token must have.",
  },
  httpAllowHost: {
    type: "string",
    list: true,
    valueName: "LIST",
    heading: "HTTP",
    description: "Further host names that requests may name, for example behind a proxy.",
  },
  httpAllowOrigin: {
    type: "string",
    list: true,
    valueName: "LIST",
    heading: "HTTP",
    description: "Host names of web pages that may call this server, besides those of this machine.",
  },
  httpStateKeyEnv: {
    type: "string",
    valueName: "NAME",
    heading: "HTTP",
    description:
      "Environment variable with a secret that processes behind one balancer share, for questions to the user.",
  },
  logLevel: {
    type: "enum",
    values: LOG_LEVELS,
    default: "warning",
    heading: "Information",
    description: "How much is written to stderr.",
  },
  listTools: {
    type: "flag",
    env: false,
    heading: "Information",
    description: "List the tools that these options offer, and exit.",
  },
  describe: {
    type: "flag",
    env: false,
    hidden: true,
    heading: "Information",
    description:
      "Print all that this server offers as JSON, for generators of pages and manifests, and exit.",
  },
  printConfig: {
    type: "enum",
    values: HOST_NAMES,
    env: false,
    valueName: "HOST",
    heading: "Information",
    description: `Print the entry for a host's configuration, with the other options given, and exit; one of ${HOST_NAMES.join(", ")}.`,
  },
  version: {
    type: "flag",
    env: false,
    heading: "Information",
    description: "Print the version, and exit; also -v.",
  },
  help: {
    type: "flag",
    env: false,
    heading: "Information",
    description: "Print this help, and exit; also -h.",
  },
});

/** The parsed common options. The lists are empty where a server has no directories or toolsets. */
export interface CommonOptionValues
  extends OptionValues<typeof commonOptions>,
    OptionValues<typeof directoryOptions> {
  readonly toolsets: readonly string[];
}
