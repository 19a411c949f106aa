import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from "vitest/node";
import { forgetWorkers, killBlockedWorkers } from "./vitest.alive.ts";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const MAX_REASON_LINES = 30;

/** A test that failed or was skipped. */
interface Entry {
  /** Relative to the root of the clone. */
  readonly file: string;
  readonly name: string;
  readonly reason: string;
}

/** What `npm test` reads about a suite. */
export interface Report {
  readonly passed: number;
  /** The files with a test that ran. */
  readonly files: readonly string[];
  readonly failed: readonly Entry[];
  readonly skipped: readonly Entry[];
  readonly seconds: number;
}

/** The parts of vitest's errors that a report shows. */
interface Failure {
  readonly message?: string;
  readonly diff?: string;
  readonly stack?: string;
}

/** How long after the time limit of tests a worker is stopped that doesn't even notice the limit. */
const GRACE_MS = 20_000;

/**
 * Writes `.refmcp/NAME.json` at the end of a run, and `.refmcp/NAME.progress.json` after every test file. Ends tests that no
 * time limit can end, because they block their process.
 */
export class SuiteReport implements Reporter {
  readonly #file: string;
  readonly #progress: string;
  readonly #started = Date.now();
  #files = 0;
  #done = 0;
  readonly #blocked: Entry[] = [];
  #silentMs = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(name: string) {
    // vitest runs in the folder of a package.
    this.#file = join(process.cwd(), ".refmcp", `${name}.json`);
    this.#progress = join(process.cwd(), ".refmcp", `${name}.progress.json`);
  }

  onInit(vitest: Vitest): void {
    this.#silentMs = vitest.config.testTimeout + GRACE_MS;
    forgetWorkers();
    process.once("exit", forgetWorkers);
  }

  onTestRunStart(files: readonly unknown[]): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    this.#files = files.length;
    this.#showProgress();
    this.#watch = setInterval(() => this.#endBlocked(), 1_000);
  }

  #endBlocked(): void {
    const reason = `blocked its process for over ${Math.round(this.#silentMs / 1000)} s: an endless loop?`;
    for (const name of killBlockedWorkers(this.#silentMs))
      this.#blocked.push({ file: relative(ROOT, process.cwd()), name, reason });
  }

  onTestModuleEnd(): void {
    this.#done += 1;
    this.#showProgress();
  }

  #showProgress(): void {
    writeFileSync(this.#progress, JSON.stringify({ done: this.#done, files: this.#files }));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Failure[]): void {
    clearInterval(this.#watch);
    const failed: Entry[] = [...this.#blocked];
    const skipped: Entry[] = [];
    const files = new Set<string>();
    let passed = 0;
    for (const module of modules) {
      const file = relative(ROOT, module.moduleId).replaceAll("\\", "/");
      const broken = new Set<TestSuite | TestModule>();
      const lookAt = (group: TestSuite | TestModule, name: string) => {
        if (group.errors().length === 0) return;
        broken.add(group);
        failed.push({ file, name, reason: reasonOf(group.errors()) });
      };
      lookAt(module, "(the file)");
      for (const suite of module.children.allSuites())
        lookAt(suite, `${suite.fullName} (set-up or clean-up)`);
      for (const test of module.children.allTests()) {
        const result = test.result();
        const name = test.fullName;
        if (result.state === "passed" || result.state === "failed") files.add(file);
        if (result.state === "passed") passed += 1;
        else if (result.state === "pending")
          failed.push({ file, name, reason: "did not run, since its process ended" });
        else if (result.state === "failed")
          failed.push({ file, name, reason: reasonOf(result.errors) });
        // Tests after a failed set-up did not run; the failure is in the list.
        else if (!ancestorsOf(test).some((group) => broken.has(group)))
          skipped.push({
            file,
            name,
            reason:
              (result.state === "skipped" ? result.note : undefined) ??
              ancestorsOf(test)
                .map(noteOf)
                .find((note) => note !== undefined) ??
              `excluded by a condition in the file (${process.platform})`,
          });
      }
    }
    if (unhandled.length > 0)
      failed.push({
        file: relative(ROOT, process.cwd()),
        name: "(outside any test)",
        reason: reasonOf(unhandled),
      });
    const report: Report = {
      passed,
      files: [...files],
      failed,
      skipped,
      seconds: Math.round((Date.now() - this.#started) / 1000),
    };
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(report));
    rmSync(this.#progress, { force: true });
  }
}

function ancestorsOf(test: TestCase): (TestSuite | TestModule)[] {
  const ancestors: (TestSuite | TestModule)[] = [];
  for (let group = test.parent; ; group = group.parent) {
    ancestors.push(group);
    if (group.type === "module") return ancestors;
  }
}

/** Why a set-up skipped its suite: vitest keeps the reason, and its public interface has no name for it. */
function noteOf(group: TestSuite | TestModule): string | undefined {
  const { result }: { result?: { note?: unknown } } = Reflect.get(group, "task") ?? {};
  return typeof result?.note === "string" ? result.note : undefined;
}

/** The message of each error, the difference where there is one, and the line of our code that it came from. */
function reasonOf(errors: readonly Failure[]): string {
  const text = errors
    .map(({ message = "", diff, stack = "" }) => {
      const at = stack
        .split("\n")
        .find((line) => line.includes(ROOT) && !line.includes("node_modules"));
      return [message, diff, at?.trim().replaceAll(ROOT, "")]
        .filter((part) => part !== undefined)
        .join("\n");
    })
    .join("\n");
  return stripVTControlCharacters(text).split("\n").slice(0, MAX_REASON_LINES).join("\n");
}
