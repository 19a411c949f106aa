// `pnpm conformance`: the official conformance suite and the Inspector, each in the version that the tests pin, against a
// server built on core and against every real server. They come from the npm registry, with the Node.js that they need.
import { join } from "node:path";
import { build, install, ROOT, run, step } from "./lib/setup.mjs";

await install();
await build();
const test = join(ROOT, "test");
const vitest = join(test, "node_modules", "vitest", "vitest.mjs");
const files = ["conformance/fixture.long.test.ts", "conformance/servers.long.test.ts"];
await step("Running the official programs", () =>
  run(process.execPath, [vitest, "run", ...files, ...process.argv.slice(2)], { cwd: test }),
);
