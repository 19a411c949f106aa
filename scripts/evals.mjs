// `pnpm evals [SERVER …]`: a model does the tasks of the servers (evals/tasks.ts) and is judged by their checks. Needs a
// key in ANTHROPIC_API_KEY and the model's name in REFMCP_EVAL_MODEL. Without them, every server's own tests run the same
// tasks with their reference solutions.
import { runVitest } from "./lib/setup.mjs";

const missing = ["ANTHROPIC_API_KEY", "REFMCP_EVAL_MODEL"].filter(
  (name) => (process.env[name] ?? "") === "",
);
if (missing.length > 0) {
  process.stderr.write(
    `Set ${missing.join(" and ")}: a key, and the model to judge. Without a model, npm test runs the reference solutions.\n`,
  );
  process.exit(2);
}
const servers = process.argv.slice(2);
process.exitCode = await runVitest(
  ["--config", "evals/vitest.config.ts"],
  servers.length > 0 ? { REFMCP_EVAL_SERVERS: servers.join(",") } : {},
);
