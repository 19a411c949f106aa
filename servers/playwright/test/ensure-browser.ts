import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensureBrowser, NoBrowser } from "./browser.mjs";

/**
 * Runs before all tests, outside their time limits: on a fresh machine a browser is installed first. Without one, the
 * tests that need it are skipped.
 *
 * Creates the folder for temporary files, too, since a worker keeps its browser until vitest kills it.
 */
export default async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  await ensureBrowser().catch((error: unknown) => {
    if (!(error instanceof NoBrowser)) throw error;
    process.stderr.write(`${error.message}\n`);
  });
  const { TMPDIR = tmpdir() } = config.env;
  const folder = await mkdtemp(join(TMPDIR, "refmcp-pw-"));
  process.env.REFMCP_TEST_FOLDER = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
