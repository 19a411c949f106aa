import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { Program } from "./programs.ts";

/** One check of a scenario, in the suite's format. */
const check = z.object({
  id: z.string(),
  status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
  errorMessage: z.string().optional(),
  details: z.looseObject({ untestable: z.boolean().optional() }).nullish(),
});
export type Check = z.output<typeof check>;

/** The result of a run of the suite. */
export interface Run {
  /** 0: no scored scenario failed or warned. */
  readonly code: number;
  readonly output: string;
  /** The checks by scenario. */
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
}

/**
 * Runs the official suite against a server, without expected failures, so that warnings count.
 *
 * @param selection `--requirements 2026-07-28` or `--suite active`.
 */
export async function runSuite(
  program: Program,
  url: URL,
  selection: readonly string[],
): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-suite-"));
  try {
    const [baseline, results] = [join(folder, "none.yml"), join(folder, "results")];
    await writeFile(baseline, "server: []\n");
    await mkdir(results);
    const server = ["server", "--url", url.href, ...selection];
    const options = ["--expected-failures", baseline, "--output-dir", results];
    const { code, stdout, stderr } = await program([...server, ...options], folder);
    return { code, output: stdout + stderr, scenarios: await resultsIn(results) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads `server-<scenario>-<time>/checks.json` of each scenario. */
async function resultsIn(folder: string): Promise<Map<string, Check[]>> {
  const checks = new Map<string, Check[]>();
  for (const name of (await readdir(folder)).sort()) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1];
    if (scenario === undefined)
      throw new Error(`The suite wrote ${name}, which is not a scenario.`);
    const text = await readFile(join(folder, name, "checks.json"), "utf8");
    checks.set(scenario, z.array(check).parse(JSON.parse(text)));
  }
  return checks;
}

/** The scored server scenarios of a revision, as the suite lists them. */
export async function scoredScenarios(program: Program, revision: string): Promise<string[]> {
  const { stdout } = await program(["list", "--requirements", revision], tmpdir());
  const scored = /^Server scenarios[^\n]*\n((?: {2}- .+\n)+)/m.exec(stdout)?.[1] ?? "";
  return [...scored.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}

/** The scenarios of the tasks extension, as the suite lists them. */
export async function taskScenarios(program: Program): Promise<string[]> {
  const { stdout } = await program(["list"], tmpdir());
  return [...stdout.matchAll(/^ *- (tasks-\S+) \[extension\]/gm)].map(([, name = ""]) => name);
}

/** A scenario's failures and warnings. */
export function faultsOf(checks: readonly Check[]): string[] {
  return checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? "no reason given"}`);
}
