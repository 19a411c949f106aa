import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { Reporter, TestCase, TestModule } from "vitest/node";

declare module "vitest" {
  interface TaskMeta {
    figures?: { calls: number; errors: number; tokens: number };
  }
}

/** Prints one line per task, and the totals. */
class TaskLines implements Reporter {
  readonly #totals = {
    passed: 0,
    failed: 0,
    skipped: 0,
    pending: 0,
    calls: 0,
    errors: 0,
    tokens: 0,
  };

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    const { calls, errors, tokens } = test.meta().figures ?? { calls: 0, errors: 0, tokens: 0 };
    this.#totals[result.state] += 1;
    this.#totals.calls += calls;
    this.#totals.errors += errors;
    this.#totals.tokens += tokens;
    const figures = `${calls} calls, ${errors} failed, ${tokens} tokens`;
    const reason = result.state === "skipped" ? result.note : result.errors?.[0]?.message;
    const detail = [
      ...(calls > 0 ? [figures] : []),
      ...(reason === undefined ? [] : [reason]),
    ].join("; ");
    process.stdout.write(
      `${result.state.padEnd(7)} ${test.name}${detail === "" ? "" : `: ${detail}`}\n`,
    );
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    for (const { message } of [...modules.flatMap((module) => module.errors()), ...unhandled])
      process.stdout.write(`${message}\n`);
    const { passed, failed, skipped, calls, errors, tokens } = this.#totals;
    process.stdout.write(
      `\n${passed} passed, ${failed} failed, ${skipped} skipped; ${calls} calls, ${errors} of them failed, ${tokens} tokens\n`,
    );
  }
}

/** `pnpm evals:public DIR`: the tasks of a public benchmark, each judged by the benchmark's own verifier. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["evals/public/suite.ts"],
    testTimeout: 1_800_000,
    fileParallelism: false,
    reporters: [new TaskLines()],
  },
});
