import type { Runtime } from "@refmcp/core/internal/bind/runtime";
import { bind } from "@refmcp/core/internal/bind/server";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import { type HttpServing, serveHttp } from "@refmcp/core/internal/transport/http/serve";
import type { HttpSettings } from "@refmcp/core/internal/transport/http/settings";
import { installShutdown } from "./shutdown.ts";

/** Serves over HTTP in this process until a signal arrives; prints its address to stderr. */
export async function runHttp<Context>(
  runtime: Runtime<Context, OptionTable>,
  settings: HttpSettings,
): Promise<void> {
  const { definition, log } = runtime;
  let serving: HttpServing;
  try {
    serving = await serveHttp(bind(runtime), settings, { maxMessageBytes: runtime.options.maxMessageBytes });
  } catch (error) {
    const { address } = settings;
    const place = "host" in address ? `${address.host} port ${address.port}` : address.path;
    process.stderr.write(`--http: cannot listen on ${place}: ${whyNot(error)}\n`);
    process.exitCode = 1;
    return;
  }
  process.stderr.write(`refmcp-${definition.name} listens on ${serving.url}\n`);
  installShutdown({
    log,
    async close() {
      await serving.close();
      await runtime.close();
    },
  });
}

/** Why listening failed, and what to do. */
function whyNot(error: unknown): string {
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: "the port is in use. Choose another port, or 0 for any free one.",
    EACCES: "permission denied. Choose a port above 1023.",
    EADDRNOTAVAIL:
      "this machine does not have that address. Listen on 127.0.0.1, or on 0.0.0.0 for all addresses.",
    ENOTFOUND:
      "that name does not resolve to an address. Listen on 127.0.0.1, or on 0.0.0.0 for all addresses.",
  };
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return known[code] ?? (error instanceof Error ? error.message : String(error));
}
