import type { Service } from "../engine/service.ts";
import type { HttpLimits, HttpSettings } from "./http/settings.ts";

/**
 * Serves a service over Streamable HTTP: `/mcp` in all revisions, `/healthz`, `/readyz`, and with OAuth the metadata that
 * shows clients where to get a token. Its code is loaded now, since a server over stdio needs none of it.
 *
 * @param limits of requests, messages, sessions and time. Default: `HTTP_LIMITS`
 * @throws the error of `listen`, for example EADDRINUSE.
 */
export async function serveHttp(service: Service, settings: HttpSettings, limits?: HttpLimits) {
  return (await import("./http/server.ts")).serveHttp(service, settings, limits);
}
