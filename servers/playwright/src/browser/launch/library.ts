import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Playwright, loaded with the first browser, and with `require`: as an ES module it takes a quarter of a second
 * longer.
 */
export const playwright = (): typeof import("playwright") => require("playwright");

/** Its `expect`, loaded by itself: while the browser starts. */
export const expectation = (): typeof import("playwright/test").expect => require("playwright/test").expect;
