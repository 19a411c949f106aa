import { LOG_LEVELS } from "../log.ts";
import type { OptionTable, OptionValues } from "./options.ts";

/** The hosts that an entry can be printed for. */
export const HOST_NAMES = [
  "claude-desktop",
  "claude-code",
  "vscode",
  "cursor",
  "codex",
  "gemini",
  "antigravity",
  "copilot-cli",
  "zed",
  "junie",
  "opencode",
  "cline",
  "goose",
  "lm-studio",
  "kiro",
  "warp",
  "amp",
  "devin",
  "windsurf",
] as const;
export type HostName = (typeof HOST_NAMES)[number];

/** Gives options the section of the help that lists them. */
function under<const Table extends OptionTable>(heading: string, table: Table): Table {
  const entries = Object.entries(table).map(([key, option]) => [key, { ...option, heading }]);
  return Object.fromEntries(entries);
}

/** Of every server that touches directories. */
export const directoryOptions = under("Directories", {
  directories: {
    type: "directory",
    list: true,
    positional: true,
    flag: "root",
    ask: true,
    title: "Allowed directories",
    description: "A directory that the server may touch, with all below it.",
  },
  clientRoots: {
    type: "enum",
    flag: "roots",
    values: ["narrow", "replace", "off"],
    default: "narrow",
    description:
      "Whether the client's roots narrow these directories (and are used where none is given), replace them, or are ignored. MCP 2026-07-28 deprecates roots.",
  },
});

/** Of every server. */
export const commonOptions = {
  ...under("Safety", {
    readOnly: { type: "flag", title: "Read-only", description: "Offer only the tools that change nothing." },
    confirm: {
      type: "enum",
      values: ["ask", "never"],
      default: "ask",
      description:
        "Whether the user is asked before something is lost for good; where the client cannot ask, ask refuses.",
    },
  }),
  ...under("Tools", {
    tools: {
      type: "string",
      list: true,
      valueName: "LIST",
      description: "Offer only these tools, or, with --toolsets or --slim, these in addition.",
    },
    excludeTools: { type: "string", list: true, valueName: "LIST", description: "Do not offer these tools." },
    slim: {
      type: "flag",
      description: "Offer only the few tools that do most of the work, to save the model's context.",
    },
  }),
  ...under("Limits", {
    timeoutMs: {
      type: "integer",
      min: 100,
      max: 3_600_000,
      default: 50_000,
      valueName: "MS",
      description: "Longest time of one call, in milliseconds; many hosts give up after 60,000.",
    },
    maxAnswerChars: {
      type: "integer",
      min: 1_000,
      max: 80_000,
      default: 20_000,
      description: "Most characters of one answer; what is cut says how to get the rest.",
    },
    maxMessageBytes: {
      type: "integer",
      min: 65_536,
      max: 1_073_741_824,
      default: 16 * 1_048_576,
      description: "Largest message that is read from the client, in bytes.",
    },
  }),
  ...under("HTTP", {
    http: {
      type: "string",
      valueName: "ADDRESS",
      description:
        "Serve over Streamable HTTP at /mcp instead of over stdio, on [HOST:]PORT (host 127.0.0.1 by default) or on a Unix socket, unix:PATH.",
    },
    sse: {
      type: "flag",
      description: "With --http, also serve the older HTTP+SSE transport of 2024-11-05, at /sse.",
    },
    websocket: {
      type: "flag",
      description: "With --http, also serve WebSocket connections (subprotocol mcp), at /mcp.",
    },
    tlsCert: {
      type: "file",
      description: "Serve HTTPS with this certificate chain (PEM); it is read again when it changes.",
    },
    tlsKey: { type: "file", description: "The private key of the certificate (PEM)." },
    allowPlainHttp: {
      type: "flag",
      description:
        "Serve plain HTTP on an address that other machines can reach, for example behind a proxy that adds TLS.",
    },
    authTokenEnv: {
      type: "string",
      valueName: "NAME",
      description: "Environment variable that holds the bearer token that every request must carry.",
    },
    oauthIssuer: {
      type: "url",
      description: "Authorization server whose access tokens are accepted (OAuth 2.1, JWT).",
    },
    oauthAudience: {
      type: "url",
      description: "This server's own URL as clients know it, which access tokens must be issued for.",
    },
    oauthScopes: {
      type: "string",
      list: true,
      flag: "oauth-scope",
      valueName: "LIST",
      description: "Scopes that an access token must have.",
    },
    httpAllowHost: {
      type: "string",
      list: true,
      valueName: "LIST",
      description: "Further host names that requests may name, for example behind a proxy.",
    },
    httpAllowOrigin: {
      type: "string",
      list: true,
      valueName: "LIST",
      description: "Host names of web pages that may call this server, besides those of this machine.",
    },
    httpStateKeyEnv: {
      type: "string",
      valueName: "NAME",
      description:
        "Environment variable with a secret that processes behind one balancer share, for questions to the user.",
    },
  }),
  ...under("Information", {
    logLevel: {
      type: "enum",
      values: LOG_LEVELS,
      default: "warning",
      description: "How much is written to stderr.",
    },
    listTools: {
      type: "flag",
      env: false,
      description: "List the tools that these options offer, and exit.",
    },
    describe: {
      type: "flag",
      env: false,
      hidden: true,
      description:
        "Print all that this server offers as JSON, for generators of pages and manifests, and exit.",
    },
    printConfig: {
      type: "enum",
      values: HOST_NAMES,
      env: false,
      valueName: "HOST",
      description: `Print the entry for a host's configuration, with the other options given, and exit; one of ${HOST_NAMES.join(", ")}.`,
    },
    version: { type: "flag", env: false, description: "Print the version, and exit; also -v." },
    help: { type: "flag", env: false, description: "Print this help, and exit; also -h." },
  }),
};

/** The parsed common options. `directories` is empty where a server touches none. */
export interface CommonOptionValues
  extends OptionValues<typeof commonOptions>,
    OptionValues<typeof directoryOptions> {
  readonly toolsets: readonly string[];
}
