// `pnpm evals:public DIR [FILTER …]`: runs the filesystem and postgres tasks of a checkout of MCPMark in DIR, those whose
// path contains a FILTER, with our servers and the benchmark's own verifiers. See docs/public-evals.md.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runVitest } from "./lib/setup.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "boolean", default: false },
    python: { type: "string", default: "python3" },
    postgres: { type: "string", default: "" },
  },
});
const [directory, ...filters] = positionals;
if (directory === undefined || !existsSync(join(directory, "tasks"))) {
  process.stderr.write(
    "Usage: pnpm evals:public DIR [FILTER …] [--model] [--python PATH] [--postgres BIN], where DIR is a checkout of MCPMark.\n",
  );
  process.exit(2);
}
const missing = ["ANTHROPIC_API_KEY", "REFMCP_EVAL_MODEL"].filter(
  (name) => (process.env[name] ?? "") === "",
);
if (values.model && missing.length > 0) {
  process.stderr.write(
    `Set ${missing.join(" and ")}, or leave out --model to run the reference solutions.\n`,
  );
  process.exit(2);
}
process.exitCode = await runVitest(["--config", "evals/public/vitest.config.ts"], {
  REFMCP_PUBLIC_EVALS: resolve(directory),
  REFMCP_PUBLIC_FILTERS: filters.join(","),
  REFMCP_PUBLIC_PYTHON: values.python,
  REFMCP_PUBLIC_POSTGRES: values.postgres,
  REFMCP_PUBLIC_MODEL: (values.model && process.env.REFMCP_EVAL_MODEL) || "",
});
