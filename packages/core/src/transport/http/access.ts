import type { IncomingMessage, ServerResponse } from "node:http";
import { show } from "../../protocol/messages.ts";
import type { HttpSettings } from "./settings.ts";

/** Who may reach the endpoint at all, before it is asked who they are. */
export interface Access {
  /** Why a request is refused, for status 403; undefined if it may go on. */
  refusal(request: IncomingMessage): string | undefined;
  /** Lets a page of an allowed origin read the answers (CORS). */
  allowReading(request: IncomingMessage, response: ServerResponse): void;
}

const LOCALHOST = ["localhost", "127.0.0.1", "[::1]"];
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/**
 * Checks `Host` and `Origin` against DNS rebinding (MCP, "Streamable HTTP: Security"): a page that a browser loaded
 * from elsewhere can reach this machine, but it cannot change the names it was loaded by.
 */
export function createAccess(settings: HttpSettings): Access {
  const { address, auth, allowedHosts, allowedOrigins } = settings;
  const hosts = new Set([...LOCALHOST, ...allowedHosts]);
  const host = "host" in address ? address.host : "localhost";
  if (!WILDCARDS.has(host)) hosts.add(new URL(`http://${host.includes(":") ? `[${host}]` : host}`).hostname);
  if (auth.kind === "oauth") hosts.add(auth.audience.hostname);
  const origins = new Set([...LOCALHOST, ...allowedOrigins]);
  const isAllowed = (origin: string | undefined) =>
    origin === undefined || origin === "" || origins.has(hostnameOf(origin) ?? "");
  return {
    refusal({ headers }) {
      const named = hostnameOf(`http://${headers.host ?? ""}`);
      if (named === undefined) return "The Host header is missing or not valid.";
      if (!hosts.has(named)) return `The host ${named} is not allowed. Allow it with --http-allow-host.`;
      const { origin } = headers;
      return isAllowed(origin)
        ? undefined
        : `The origin ${show(origin)} is not allowed. Allow it with --http-allow-origin.`;
    },
    allowReading({ headers }, response) {
      const { origin } = headers;
      if (origin === undefined || !isAllowed(origin)) return;
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("vary", "origin");
      response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate");
    },
  };
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname || undefined : undefined;
}

/** The answer to a browser's question whether a page may send a request (CORS preflight). */
export const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
  "access-control-max-age": "600",
} as const;
