import { bind } from "@refmcp/core/internal/bind/server";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import type { Servable } from "@refmcp/core/internal/define/server";
import { StdioServer } from "@refmcp/core/internal/transport/stdio/stdio";
import { protectStdout } from "@refmcp/core/internal/transport/stdio/stdout";
import { serverOptions } from "./option-table.ts";
import { prepare } from "./prepare.ts";
import { shellWords } from "./shell/words.ts";
import { installShutdown } from "./shutdown.ts";

/**
 * Runs a server as this process: reads the command line and the environment, then serves MCP over stdin and stdout
 * until the client disconnects or a signal arrives, or with `--http` over HTTP until a signal arrives. The context is
 * opened on the first call that needs it. If the command line ends in a command (`call git_log --max_count 5`), runs
 * only that command.
 *
 * ```ts
 * await run(defineServer({ name: "hello", … }));
 * ```
 */
export async function run<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
): Promise<void> {
  const stdout = protectStdout();
  const argv = process.argv.slice(2);
  const words = shellWords(serverOptions(definition), argv);
  const inShell = words !== undefined;
  const prepared = await prepare(definition, words?.options ?? argv, process.env, { inShell });
  if (prepared.kind === "print") {
    process.stderr.write(prepared.stderr);
    stdout.write(prepared.stdout);
    process.exitCode = prepared.exitCode;
    return;
  }
  const { runtime, http } = prepared;
  if (words !== undefined) {
    const { runShell } = await import("./shell/shell.ts");
    return runShell(runtime, words, stdout);
  }
  if (http !== undefined) {
    const { runHttp } = await import("./run-http.ts");
    return runHttp(runtime, http);
  }
  const server = new StdioServer(bind(runtime), {
    input: process.stdin,
    output: stdout,
    maxLineBytes: runtime.options.maxMessageBytes,
    note: (line) => runtime.log.warning(line),
    onEnd: ({ reason, since }) => shutdown.begin(reason, since),
  });
  const shutdown = installShutdown({
    log: runtime.log,
    async close() {
      await server.close();
      await runtime.close();
    },
  });
}
