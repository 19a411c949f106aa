import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { failure } from "../errors.ts";

export interface CommandOptions {
  readonly project: string;
  readonly args: readonly string[];
  /** More variables for its environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SpecEvent) => void;
}

const MAX_OUTPUT = 8_000;
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;

/**
 * Runs the project's own `playwright test` in a separate process group and receives events from our reporter on file
 * descriptor 3. When the signal aborts, the whole group ends, including workers and browsers.
 *
 * @throws ToolError `unavailable` if the project has no Playwright; the signal's reason.
 */
export async function playwrightTest({
  project,
  args,
  env,
  signal,
  onEvent,
}: CommandOptions): Promise<{ code: number | null; output: string }> {
  signal.throwIfAborted();
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const reporter = fileURLToPath(new URL(`spec-reporter.worker.${extension}`, import.meta.url));
  const child = spawn(process.execPath, [cliOf(project), "test", "--reporter=null", ...args], {
    cwd: project,
    // Not `--reporter`, which Playwright splits at commas.
    env: { ...environment(), ...env, PW_TEST_REPORTER: reporter },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const end = (signalName: NodeJS.Signals) => {
    if (child.pid === undefined) return;
    try {
      if (process.platform === "win32") child.kill(signalName);
      else process.kill(-child.pid, signalName);
    } catch {
      // The group has already ended.
    }
  };
  const atExit = () => end("SIGKILL");
  process.once("exit", atExit);
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    end("SIGTERM");
    timer = setTimeout(() => end("SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", abort, { once: true });
  let output = "";
  const receive = (chunk: string) => {
    output = (output + chunk).slice(-MAX_OUTPUT);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", receive);
  const pipe = child.stdio[3];
  if (pipe !== null && pipe !== undefined && "read" in pipe)
    createInterface({ input: pipe }).on("line", (line) => {
      const event = eventOf(line);
      if (event !== undefined) onEvent(event);
    });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    return { code, output };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    process.off("exit", atExit);
    // Kills what a spec started and left running.
    end("SIGKILL");
  }
}

export function cliOf(project: string): string {
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

/** The environment of specs: the server's, without the server's own variables. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:REFMCP_|NODE_OPTIONS$|VITEST|FORCE_COLOR$)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    REFMCP_REPORT_FD: "3",
    PLAYWRIGHT_HTML_OPEN: "never",
    NO_COLOR: "1",
  };
}

const place = { id: z.string(), title: z.string(), file: z.string(), line: z.number(), project: z.string() };

/** The reporter's events, one JSON object per line. */
export const specEvent = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("tests"), tests: z.array(z.object(place)) }),
  z.object({ kind: z.literal("begin"), total: z.number() }),
  z.object({
    kind: z.literal("test"),
    ...place,
    status: z.string(),
    outcome: z.enum(["skipped", "expected", "unexpected", "flaky"]),
    last: z.boolean(),
    duration: z.number(),
    errors: z.array(z.string()),
    attachments: z.array(z.object({ name: z.string(), path: z.string(), contentType: z.string() })),
  }),
  z.object({ kind: z.literal("error"), message: z.string() }),
  z.object({ kind: z.literal("end"), status: z.string() }),
]);
export type SpecEvent = z.output<typeof specEvent>;

export function eventOf(line: string): SpecEvent | undefined {
  try {
    return specEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
