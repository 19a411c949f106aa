import { bringBrowser, NoBrowser } from "./browser.mjs";

/**
 * Before all tests, where no test's time limit counts: on a fresh machine a browser is installed first. Without one, the
 * tests that need it are skipped.
 */
export default async function bring(): Promise<void> {
  await bringBrowser().catch((error: unknown) => {
    if (!(error instanceof NoBrowser)) throw error;
    process.stderr.write(`${error.message}\n`);
  });
}
