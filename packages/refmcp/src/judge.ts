import type { Writable } from "node:stream";
import { run } from "@refmcp/testing/internal/judge/cli";
import { killAll } from "@refmcp/testing/internal/judge/stdio";
import manifest from "../package.json" with { type: "json" };

/** Runs `refmcp-judge`. @param stdout gets its report */
export async function judge(argv: readonly string[], stdout: Writable): Promise<void> {
  // The judged servers are in their own process groups, so Ctrl+C does not reach them.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      killAll();
      process.exit(130);
    });
  }
  process.once("exit", killAll);
  process.exitCode = await run([...argv], manifest.version, {
    stdout: (text) => void stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
  });
}
