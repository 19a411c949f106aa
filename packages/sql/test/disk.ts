import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { onTestFinished, type TestContext } from "vitest";

/** Mounts a separate disk of 1 MiB at a folder for one test, which needs root. */
export async function smallDisk(context: TestContext, folder: string): Promise<void> {
  const run = promisify(execFile);
  await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).catch(() =>
    context.skip("needs root"),
  );
  onTestFinished(async () => void (await run("umount", ["--lazy", folder])));
}
