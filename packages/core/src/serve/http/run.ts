import type { Runtime } from "../../bind/runtime.ts";
import type { OptionTable } from "../../define/options.ts";
import { installShutdown } from "../shutdown.ts";
import { type HttpServing, serveHttp } from "./serve.ts";
import type { HttpSettings } from "./settings.ts";

/** Runs a server over HTTP as this process until a signal comes; says on stderr where it listens. */
export async function runHttp<Context>(
  runtime: Runtime<Context, OptionTable>,
  settings: HttpSettings,
): Promise<void> {
  const { definition, log } = runtime;
  let serving: HttpServing;
  try {
    serving = await serveHttp(runtime, settings);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`--http: cannot listen on ${settings.host} port ${settings.port}: ${why}\n`);
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
