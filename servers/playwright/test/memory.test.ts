import { describe } from "vitest";
import { eatAll } from "./eaters.ts";

// One that fills Playwright's process and one that fills the browser's; memory.long.test.ts has more.
describe.runIf(process.platform === "linux")("pages that eat all memory", () =>
  eatAll(["/console", "/buffers"]),
);
