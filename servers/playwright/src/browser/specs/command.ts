import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { failure } from "../errors.ts";
import { projectEnvironment, runInGroup } from "../process-group.ts";

export interface CommandOptions {
  readonly project: string;
  readonly args: readonly string[];
  /** The server's environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SpecEvent) => void;
}

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
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const reporter = fileURLToPath(new URL(`spec-reporter.worker.${extension}`, import.meta.url));
  return runInGroup([cliOf(project), "test", "--reporter=null", ...args], {
    cwd: project,
    // Not `--reporter`, which Playwright splits at commas.
    env: { ...environment(env), PW_TEST_REPORTER: reporter },
    signal,
    onLine: (line) => {
      const event = eventOf(line);
      if (event !== undefined) onEvent(event);
    },
  });
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

const environment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...projectEnvironment(env),
  REFMCP_REPORT_FD: "3",
  PLAYWRIGHT_HTML_OPEN: "never",
  NO_COLOR: "1",
});

const place = {
  id: z.string(),
  title: z.string(),
  file: z.string(),
  line: z.number(),
  project: z.string(),
};

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
