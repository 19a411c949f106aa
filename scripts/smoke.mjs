// `pnpm smoke`: the packed servers start and answer on every Node.js that we promise, each from the npm registry.
import { join } from "node:path";
import { build, install, ROOT, run, step } from "./lib/setup.mjs";

await install();
await build();
const vitest = join(ROOT, "test", "node_modules", "vitest", "vitest.mjs");
const env = { ...process.env, REFMCP_SMOKE_NODES: process.argv.slice(2).join(",") || "20,22,24,26" };
await step("Starting the packed servers", () =>
  run(process.execPath, [vitest, "run", "smoke"], { cwd: join(ROOT, "test"), env }),
);
