import { LOG_LEVELS } from "../log.ts";
import type { OptionTable, OptionValues } from "./options.ts";

/** Puts options under a heading of the help. Those for HTTP are shown only by `--help http`. */
function under<const Table extends OptionTable>(heading: string, table: Table): Table {
  const entries = Object.entries(table).map(([key, option]) => [key, { ...option, heading }]);
  return Object.fromEntries(entries);
}

const flag = (description: string) => ({ type: "flag", description }) as const;
/** What the process does instead of serving; not set by the environment. */
const action = (description: string) => ({ ...flag(description), env: false }) as const;
const text = (valueName: string, description: string) =>
  ({ type: "string", valueName, description }) as const;
const names = (description: string) => ({ ...text("LIST", description), list: true }) as const;
const milliseconds = (min: number, max: number, standard: number, description: string) =>
  ({ type: "integer", min, max, default: standard, valueName: "MS", description }) as const;

export const directoryOptions = under("Directories", {
  directories: {
    type: "directory",
    list: true,
    positional: true,
    flag: "root",
    ask: true,
    form: {
      title: "Allowed folders",
      help: "The folders that the assistant may work in, with everything in them. It cannot open anything outside.",
    },
    description: "A directory that the server may access, including subdirectories.",
  },
  clientRoots: {
    type: "enum",
    flag: "roots",
    values: ["narrow", "replace", "off"],
    default: "narrow",
    description:
      "Whether the client's roots narrow these directories (and are used if none is given), replace them, or are ignored. MCP 2026-07-28 deprecates roots.",
  },
});

export const commonOptions = {
  ...under("Common", {
    readOnly: {
      ...flag("Offer only read-only tools."),
      form: {
        title: "Read-only",
        help: "The assistant can look at everything but change nothing.",
      },
    },
    confirm: {
      type: "enum",
      values: ["ask", "never"],
      default: "ask",
      description:
        "Ask before permanently losing data. If the client can't ask, the call is refused.",
    },
    tools: names("Offer only these tools; with --toolsets, these in addition."),
    excludeTools: names("Do not offer these tools."),
    timeoutMs: milliseconds(
      100,
      3_600_000,
      50_000,
      "Time limit of one call. Many hosts give up after 60,000.",
    ),
    taskAfterMs: milliseconds(
      0,
      3_600_000,
      5_000,
      "A call that takes longer becomes a task, if the client supports tasks.",
    ),
    taskTimeoutMs: milliseconds(1_000, 86_400_000, 3_600_000, "Time limit of a task."),
    maxAnswerChars: {
      type: "integer",
      min: 1_000,
      max: 80_000,
      default: 20_000,
      description:
        "Maximum characters of one response. Truncated responses say how to get the rest.",
    },
    auditLog: text(
      "FILE",
      "Append one JSON line per tool call to this file, or to stderr with -. It has no contents.",
    ),
    logLevel: {
      type: "enum",
      values: LOG_LEVELS,
      default: "warning",
      description: "How much to write to stderr.",
    },
    printConfig: action("Print the entry for a host with these options, and exit."),
    version: action("Print the version, and exit; also -v."),
    help: action("Print this help, and exit; also -h. --help http: the options of HTTP."),
  }),
  ...under("HTTP", {
    http: text(
      "ADDRESS",
      "Serve over Streamable HTTP at /mcp instead of stdio, on [HOST:]PORT (host 127.0.0.1 by default) or on a Unix socket, unix:PATH.",
    ),
    sse: flag("With --http, also serve the older HTTP+SSE transport of 2024-11-05, at /sse."),
    websocket: flag("With --http, also serve WebSocket connections (subprotocol mcp), at /mcp."),
    tlsCert: {
      type: "file",
      description: "Serve HTTPS with this certificate chain (PEM).",
    },
    tlsKey: { type: "file", description: "The private key of the certificate (PEM)." },
    allowPlainHttp: flag(
      "Serve plain HTTP on an address that other machines can reach, for example behind a proxy that adds TLS.",
    ),
    authTokenEnv: text(
      "NAME",
      "Environment variable with the bearer token that every request must send.",
    ),
    oauthIssuer: {
      type: "url",
      description: "Authorization server whose access tokens are accepted (OAuth 2.1, JWT).",
    },
    oauthAudience: {
      type: "url",
      description:
        "This server's own URL as clients know it, which access tokens must be issued for.",
    },
    oauthScopes: { ...names("Scopes that an access token must have."), flag: "oauth-scope" },
    oauthToolScopes: flag(
      "Require the scope of a tool's effect for its calls: NAME:read, NAME:add, NAME:change or NAME:destroy, for example git:read.",
    ),
    httpAllowHost: names("Additional host names allowed in requests, for example behind a proxy."),
    httpAllowOrigin: names(
      "Host names of web pages that may call this server, in addition to those of this machine.",
    ),
    httpStateless: flag(
      "Serve clients of MCP 2025-11-25 and earlier without sessions, so that a load balancer can send each request to any process. The server can then not ask their users.",
    ),
    drainMs: milliseconds(
      0,
      600_000,
      5_000,
      "How long calls are still accepted after SIGTERM, while /readyz returns 503 so that a load balancer can stop sending them.",
    ),
    httpStateKeyEnv: text(
      "NAME",
      "Environment variable with a secret shared by the processes behind a load balancer, for questions to the user.",
    ),
  }),
};

/** The parsed common options. `directories` is empty for a server that accesses none. */
export interface CommonOptionValues
  extends OptionValues<typeof commonOptions>,
    OptionValues<typeof directoryOptions> {
  readonly toolsets: readonly string[];
}
