import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { PLAYWRIGHT_VERSION } from "./library.ts";

it("Playwright has the version with which library.ts was compared", () => {
  const { version } = createRequire(import.meta.url)("playwright/package.json");
  expect(
    version,
    "compare every part of library.ts with this version, then update the constant",
  ).toBe(PLAYWRIGHT_VERSION);
});
