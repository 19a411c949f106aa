import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/**
 * Starts a process that keeps replacing `path` with a link to `target` and back, as fast as it can, until the test ends
 * or the function that it returns is called.
 */
export async function keepSwapping(path: string, target: string): Promise<() => Promise<void>> {
  const code = `
    const fs = require("node:fs");
    const [path, target] = process.argv.slice(1);
    process.stdout.write("ready");
    for (;;) {
      fs.renameSync(path, path + ".away");
      fs.symlinkSync(target, path);
      fs.unlinkSync(path);
      fs.renameSync(path + ".away", path);
    }`;
  const child: ChildProcess = spawn(process.execPath, ["-e", code, path, target], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(stop);
  if (child.stdout !== null) await once(child.stdout, "data");
  return stop;
}
