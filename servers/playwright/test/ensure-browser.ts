import { ensureBrowser, NoBrowser } from "./browser.mjs";

/**
 * Runs before all tests, outside their time limits: on a fresh machine a browser is installed first. Without one, the
 * tests that need it are skipped.
 */
export default async function setup(): Promise<void> {
  await ensureBrowser().catch((error: unknown) => {
    if (!(error instanceof NoBrowser)) throw error;
    process.stderr.write(`${error.message}\n`);
  });
}
