// `pnpm smoke [MAJOR …]`: the packed servers start and answer on every supported Node.js, each from the npm registry.
import { NODES } from "./lib/npm-programs.mjs";
import { runVitest } from "./lib/setup.mjs";

const versions = process.argv.slice(2).join(",") || Object.keys(NODES).join(",");
process.exitCode = await runVitest(["--mode", "long", "smoke/smoke"], {
  REFMCP_SMOKE_NODES: versions,
});
