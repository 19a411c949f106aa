import { bringBrowser } from "./browser.mjs";

/** Before all tests, where no test's time limit counts: on a fresh machine the browser is fetched first. */
export default async function bring(): Promise<void> {
  await bringBrowser({ say: (line) => process.stderr.write(`${line}\n`) });
}
