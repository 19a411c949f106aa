import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { signalTree } from "@refmcp/boundary/process-tree";
import * as z from "zod";
import { failure } from "../errors.ts";

const MAX_OUTPUT = 8_000;
/** How long the runner may take to write its report after it was interrupted. */
const GRACE_MS = 4_000;

const message = z.object({ message: z.string().optional(), stack: z.string().optional() });
const result = z.object({
  status: z.string().optional(),
  errors: z.array(message).default([]),
  attachments: z
    .array(z.object({ path: z.string().optional(), contentType: z.string() }))
    .default([]),
});
const spec = z.object({
  title: z.string(),
  file: z.string(),
  line: z.number(),
  tests: z.array(
    z.object({
      projectName: z.string().default(""),
      status: z.enum(["skipped", "expected", "unexpected", "flaky"]),
      results: z.array(result),
    }),
  ),
});
const suite = z.object({
  title: z.string(),
  specs: z.array(spec).default([]),
  get suites() {
    return z.array(suite).default([]);
  },
});
type Suite = z.infer<typeof suite>;
/** The part of Playwright's JSON report that we use (docs: "JSON reporter"). */
const jsonReport = z.object({
  config: z.object({ rootDir: z.string() }),
  suites: z.array(suite),
  errors: z.array(message).default([]),
});

/** A test of the project; `results` has one entry for each attempt. */
export type SpecTest = Pick<z.infer<typeof spec>, "file" | "line" | "title"> &
  z.infer<typeof spec>["tests"][number];

interface SpecsReport {
  readonly tests: readonly SpecTest[];
  readonly errors: readonly string[];
  readonly code: number | null;
  readonly output: string;
}

interface CommandOptions {
  readonly project: string;
  readonly args: readonly string[];
  /** The server's environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Receives the lines of the list reporter: one for each test that has ended. */
  readonly onLine: (line: string) => void;
}

/**
 * Runs the project's own `playwright test` in a separate process group and reads its JSON report. When the signal aborts,
 * the runner is interrupted and reports what it has; then the whole group ends, including workers and browsers.
 *
 * @throws ToolError `unavailable` if the project has no Playwright; the signal's reason if there is no report.
 */
export async function playwrightTest({
  project,
  args,
  env,
  signal,
  onLine,
}: CommandOptions): Promise<SpecsReport> {
  signal.throwIfAborted();
  const home = await mkdtemp(join(tmpdir(), "refmcp-playwright-specs-"));
  const file = join(home, "report.json");
  const child = spawn(process.execPath, [cliOf(project), "test", "--reporter=list,json", ...args], {
    cwd: project,
    env: environment(env, file),
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const kill = () => signalTree(child, "SIGKILL");
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    timer = setTimeout(kill, GRACE_MS);
    if (process.platform !== "win32" && child.pid !== undefined) process.kill(child.pid, "SIGINT");
    else kill();
  };
  process.once("exit", kill);
  signal.addEventListener("abort", interrupt, { once: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-MAX_OUTPUT);
    });
  createInterface({ input: child.stdout }).on("line", onLine);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const text = await readFile(file, "utf8").catch(() => "");
    if (text === "") signal.throwIfAborted();
    return { ...testsIn(text), code, output };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", interrupt);
    process.off("exit", kill);
    // Kills what the program started and left running.
    kill();
    await rm(home, { recursive: true, force: true });
  }
}

function testsIn(text: string): Pick<SpecsReport, "tests" | "errors"> {
  if (text === "") return { tests: [], errors: [] };
  const { config, suites, errors } = jsonReport.parse(JSON.parse(text));
  const testsOf = ({ specs, suites: inner }: Suite, titles: readonly string[]): SpecTest[] => [
    ...specs.flatMap(({ tests, ...spec }) => {
      const title = [...titles, spec.title].join(" › ");
      return tests.map((test) => ({
        ...test,
        ...{ title, line: spec.line, file: join(config.rootDir, spec.file) },
      }));
    }),
    ...inner.flatMap((suite) => testsOf(suite, [...titles, suite.title])),
  ];
  return {
    // The title of an outer suite is its file.
    tests: suites.flatMap((suite) => testsOf(suite, [])),
    errors: errors.map(({ message = "", stack = message }) => stack),
  };
}

function cliOf(project: string): string {
  const require = createRequire(join(project, "package.json"));
  for (const name of ["@playwright/test", "playwright"]) {
    try {
      return join(require.resolve(`${name}/package.json`), "..", "cli.js");
    } catch {
      // Try the next one, then throw the error below.
    }
  }
  throw failure("no_playwright", `Playwright is not installed in the project ${project}.`);
}

/** The server's environment without its own variables, and the place of the report under both of its names. */
const environment = (env: NodeJS.ProcessEnv, report: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^(?:REFMCP_|NODE_OPTIONS$|VITEST|FORCE_COLOR$)/.test(name),
    ),
  ),
  PLAYWRIGHT_JSON_OUTPUT_FILE: report,
  PLAYWRIGHT_JSON_OUTPUT_NAME: report,
  PLAYWRIGHT_HTML_OPEN: "never",
  NO_COLOR: "1",
});
