import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import { onTestFinished, type TestContext } from "vitest";

const run = promisify(execFile);

/** Mounts a disk on a new folder for one test, which needs root; `options` as in mount(8): `size=40k`, `ro`. */
export async function mounted(ctx: TestContext, folder: string, options: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).catch(() =>
    ctx.skip("needs root"),
  );
  onTestFinished(() => run("umount", ["--lazy", folder]).then(() => undefined));
  return folder;
}
