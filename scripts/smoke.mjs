// `pnpm smoke [MAJOR …]`: the packed servers start and answer on every supported Node.js, each from the npm registry.
import { join } from "node:path";
import { NODES } from "./lib/npm-programs.mjs";
import { build, install, ROOT, run, step } from "./lib/setup.mjs";

await install();
await build();
const vitest = join(ROOT, "test", "node_modules", "vitest", "vitest.mjs");
const env = {
  ...process.env,
  REFMCP_SMOKE_NODES: process.argv.slice(2).join(",") || Object.keys(NODES).join(","),
};
await step("Starting the packed servers", () =>
  run(process.execPath, [vitest, "run", "smoke/smoke.long.test.ts"], { cwd: join(ROOT, "test"), env }),
);
