// `pnpm check`: what CI checks besides the tests: format and lint, and that generated pages are current.

import { join } from "node:path";
import { install, ROOT, run, step } from "./lib/setup.mjs";

await install();
const biome = join(ROOT, "node_modules", "@biomejs", "biome", "bin", "biome");
await step("Checking format and lint", async () => {
  const code = await run(process.execPath, [biome, "ci", "--error-on-warnings", "."]);
  if (code !== 0)
    process.stderr.write("To format and to fix what can be fixed: npx biome check --write .\n");
  return code;
});
await step("Checking generated pages", () =>
  run(process.execPath, [join(ROOT, "scripts", "generate.mjs"), "--check"], { quiet: true }),
);
