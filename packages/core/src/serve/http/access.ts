import type { IncomingMessage, ServerResponse } from "node:http";
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { HttpSettings } from "./settings.ts";

/** Who may reach the endpoint at all, before it is asked who they are. */
export interface Access {
  /** Why a request is refused, for status 403; undefined where it may go on. */
  refusal(request: IncomingMessage): string | undefined;
  /** Lets a page of an allowed origin read the answers (CORS). */
  allowReading(request: IncomingMessage, response: ServerResponse): void;
}

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/**
 * Checks `Host` and `Origin` against DNS rebinding (MCP, "Streamable HTTP: Security"): a page that a browser loaded
 * from elsewhere can reach this machine, but it cannot change the names it was loaded by.
 */
export function createAccess(settings: HttpSettings): Access {
  const { host, auth, allowedHosts, allowedOrigins } = settings;
  const own = localhostAllowedHostnames();
  const hosts = [...own, ...allowedHosts];
  if (!WILDCARDS.has(host)) hosts.push(new URL(`http://${host.includes(":") ? `[${host}]` : host}`).hostname);
  if (auth.kind === "oauth") hosts.push(auth.audience.hostname);
  const origins = [...own, ...allowedOrigins];
  return {
    refusal({ headers }) {
      const named = validateHostHeader(headers.host, hosts);
      if (!named.ok) return `${named.message}. Allow it with --http-allow-host.`;
      const origin = validateOriginHeader(headers.origin, origins);
      return origin.ok ? undefined : `${origin.message}. Allow it with --http-allow-origin.`;
    },
    allowReading({ headers }, response) {
      const { origin } = headers;
      if (origin === undefined || !validateOriginHeader(origin, origins).ok) return;
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("vary", "origin");
      response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate");
    },
  };
}

/** The answer to a browser's question whether a page may send a request (CORS preflight). */
export const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id",
  "access-control-max-age": "600",
} as const;
