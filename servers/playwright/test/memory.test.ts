import { describe } from "vitest";
import { testMemoryPages } from "./memory-pages.ts";

// One that fills Playwright's process and one that fills the browser's; memory.long.test.ts has more.
describe.runIf(process.platform === "linux")("pages that use all memory", () =>
  testMemoryPages(["/console", "/buffers"]),
);
