import { errorCode, reasonOf } from "@refmcp/boundary/answer";
import type { OptionTable } from "../define/options.ts";
import type { Servable } from "../define/server.ts";
import { serveHttp } from "../transport/http.ts";
import { serveStdio } from "../transport/stdio/stdio.ts";
import { protectStdout } from "../transport/stdio/stdout.ts";
import { serverOptions } from "./options.ts";
import { shellWords } from "./parse-options.ts";
import { clonedFile, type Program, prepare, processName } from "./prepare.ts";
import { installShutdown } from "./shutdown.ts";

/**
 * Runs a server as this process: reads the command line and the environment, then serves MCP over stdin and stdout
 * until the client disconnects or a signal arrives, or with `--http` over HTTP until a signal arrives. The context is
 * opened on the first call that needs it. If the command line ends in a command (`call git_log max_count=5`), runs
 * only that command.
 *
 * @param how `argv`: default, the process's. `program`: what differs from a program that serves this server alone.
 *
 * ```ts
 * await run(defineServer({ name: "hello", … }));
 * ```
 */
export async function run<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
  {
    argv = process.argv.slice(2),
    program,
  }: { readonly argv?: readonly string[]; readonly program?: Program<Context, Table> } = {},
): Promise<void> {
  const stdout = protectStdout();
  const words = shellWords(program?.options ?? serverOptions(definition), argv);
  const inShell = words !== undefined;
  const options = words?.options ?? argv;
  const result = await prepare(definition, options, process.env, { inShell, program });
  if (result.kind === "print") {
    process.stderr.write(result.stderr);
    stdout.write(result.stdout);
    process.exitCode = result.exitCode;
    return;
  }
  const { runningService, http, runtime } = result;
  const { service } = runningService;
  const { log } = service;
  const { auditLog } = runtime.options;
  const endAudit =
    auditLog === undefined ? undefined : (await import("./audit.ts")).auditTo(auditLog, log);
  const close = async () => {
    await endAudit?.();
    await runningService.close();
  };
  if (words !== undefined) {
    const { runShell } = await import("./shell.ts");
    return runShell({ ...runningService, close }, words, stdout, await startOf(definition));
  }
  const shutDownWith = (closeTransport: (why: string) => Promise<void>, transportMs = 0) =>
    installShutdown({
      log,
      async close(why) {
        await closeTransport(why);
        service.tasks.close();
        await close();
      },
      recover: runningService.recover,
      transportMs,
    });
  if (http !== undefined) {
    try {
      const httpServer = await serveHttp(service, http);
      process.stderr.write(`${processName(definition)} listens on ${httpServer.url}\n`);
      const { drainMs, callMs } = http;
      // On Ctrl+C, don't wait for the load balancer to drain.
      shutDownWith(
        (why) => httpServer.close({ drainMs: why === "SIGTERM" ? drainMs : 0, callMs }),
        drainMs + callMs,
      );
    } catch (error) {
      // Not for a Unix socket, nor a certificate that cannot be read.
      const { syscall, port } = Object(error);
      const cure = syscall === "listen" && port !== -1 ? ADVICE[errorCode(error) ?? ""] : "";
      process.stderr.write(`--http: cannot listen: ${reasonOf(error)}. ${cure ?? ""}\n`);
      process.exitCode = 1;
    }
    return;
  }
  if (process.stdin.isTTY) {
    const start = await startOf(definition);
    process.stderr.write(
      `${processName(definition)} waits for an MCP client on stdin, as a host starts it. To use it here: ${start} tools, call TOOL or --help; --print-config prints the entry for a host. Ctrl+C ends it.\n`,
    );
  }
  const server = serveStdio(service, {
    input: process.stdin,
    output: stdout,
    note: (line) => log.warning(line),
    onEnd: ({ reason, since }) => shutdown.begin(reason, since),
  });
  const shutdown = shutDownWith(() => server.close());
}

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: "Choose another port, or 0 for any free one.",
  EADDRNOTAVAIL: "Listen on 127.0.0.1, or on 0.0.0.0 for all addresses.",
  EACCES: "Choose a port above 1023.",
};

/** How the user started this process, for messages. */
async function startOf({ packageName }: { readonly packageName: string }): Promise<string> {
  const { startedAs } = await import("./help.ts");
  return startedAs(packageName, await clonedFile());
}
