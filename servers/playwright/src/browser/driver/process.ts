import { type ChildProcess, fork } from "node:child_process";
import module from "node:module";
import { workerFile } from "@refmcp/core/worker-file";

export const HEAP_MB = 512;

let ahead: ChildProcess | undefined;

/** Starts the first driver's process, which loads Playwright while the server loads its own code. */
export function startAhead(): void {
  ahead ??= started(process.env);
}

/** A process that waits for its first request. */
export function driverProcess(env: NodeJS.ProcessEnv): ChildProcess {
  const child = ahead ?? started(env);
  ahead = undefined;
  return child;
}

function started(env: NodeJS.ProcessEnv): ChildProcess {
  return fork(workerFile("driver", import.meta.url), [], {
    serialization: "advanced",
    // Node.js 22 and newer keep compiled code between starts: Playwright then loads in half the time.
    env: { ...env, ...compileCache() },
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}

function compileCache(): NodeJS.ProcessEnv {
  const folder: unknown = Reflect.get(module, "getCompileCacheDir")?.();
  return typeof folder === "string" ? { NODE_COMPILE_CACHE: folder } : {};
}
