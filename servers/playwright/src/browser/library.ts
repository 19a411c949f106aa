import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Playwright with its `expect`. Loaded when the first browser is, and with `require`: as an ES module the same files take
 * a quarter of a second longer.
 */
export const playwright = (): typeof import("playwright/test") => require("playwright/test");
