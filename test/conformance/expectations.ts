import { expect } from "vitest";
import type { Fields } from "../protocol/revisions.ts";
import { IS_PINNED, type Program } from "./programs.ts";
import { faultsOf, runSuite, scoredScenarios, taskScenarios } from "./scenarios.ts";

/** The scored requirement sets, and how many server scenarios each has in the pinned suite. */
export const REQUIREMENTS = [
  { revision: "2025-11-25", count: 30 },
  { revision: "2026-07-28", count: 37 },
] as const;
const TASKS = 10;

/** Checks of a scored scenario that do not apply: this server's tools and prompts never change. */
const NOT_APPLICABLE = [
  "sep-2575-server-sends-prompts-list-changed-on-subscription",
  "sep-2575-server-sends-tools-list-changed-on-subscription",
];

/** The scenarios that need no particular tool, resource or prompt, and what the server needs for them. */
const GENERIC: Readonly<Record<string, readonly { scenario: string; needs?: string }[]>> = {
  "2025-11-25": [
    { scenario: "server-initialize" },
    { scenario: "ping" },
    { scenario: "tools-list" },
    { scenario: "server-sse-multiple-streams" },
    { scenario: "server-session-lifecycle" },
    { scenario: "dns-rebinding-protection" },
    { scenario: "resources-list", needs: "resources" },
    { scenario: "prompts-list", needs: "prompts" },
  ],
  "2026-07-28": [
    { scenario: "server-stateless" },
    { scenario: "tools-list" },
    { scenario: "server-sse-multiple-streams" },
    { scenario: "http-header-validation" },
    { scenario: "dns-rebinding-protection" },
    { scenario: "input-required-result-unsupported-methods" },
    { scenario: "resources-list", needs: "resources" },
    { scenario: "sep-2164-resource-not-found", needs: "resources" },
    { scenario: "caching", needs: "resources" },
    { scenario: "prompts-list", needs: "prompts" },
  ],
};

/** A newer suite may have more scenarios. */
function expectNumber(names: readonly string[], count: number): void {
  if (IS_PINNED) expect(names).toHaveLength(count);
  else expect(names.length).toBeGreaterThanOrEqual(count);
}

/** Every scored scenario of a revision passes, without a warning. */
export async function passesScored(
  suite: Program,
  url: URL,
  { revision, count }: (typeof REQUIREMENTS)[number],
): Promise<void> {
  const scored = await scoredScenarios(suite, revision);
  expectNumber(scored, count);
  const { code, output, scenarios } = await runSuite(suite, url, ["--requirements", revision]);
  for (const name of scored) {
    const checks = scenarios.get(name) ?? [];
    expect(checks.filter(({ status }) => status === "SUCCESS").length, name).toBeGreaterThan(0);
    expect(faultsOf(checks), name).toEqual([]);
    const skipped = checks.filter(({ status }) => status === "SKIPPED").map(({ id }) => id);
    expect(
      skipped.filter((id) => !NOT_APPLICABLE.includes(id)),
      name,
    ).toEqual([]);
  }
  expect(code, output.slice(-2000)).toBe(0);
}

/** Every scenario of the tasks extension passes, without a warning, but the one about tools that require a task: there are none. */
export async function passesTasks(suite: Program, url: URL): Promise<void> {
  const names = await taskScenarios(suite);
  expectNumber(names, TASKS);
  for (const name of names.filter((scenario) => scenario !== "tasks-required-task-error")) {
    const { code, output, scenarios } = await runSuite(suite, url, ["--scenario", name]);
    const checks = scenarios.get(name) ?? [];
    // The suite does not look at notifications of tasks yet.
    const passed = name === "tasks-status-notifications" ? ["SKIPPED"] : ["SUCCESS"];
    expect([...new Set(checks.map(({ status }) => status))], name).toEqual(passed);
    expect(code, output.slice(-2000)).toBe(0);
  }
}

/** The scenarios that apply to every server pass, without a warning. */
export async function passesGeneric(
  suite: Program,
  url: URL,
  revision: string,
  capabilities: Fields,
): Promise<void> {
  const { scenarios } = await runSuite(suite, url, ["--requirements", revision]);
  for (const { scenario, needs } of GENERIC[revision] ?? []) {
    if (needs !== undefined && !(needs in capabilities)) continue;
    // Some checks need a tool of the suite's server, and report that; one needs prompts, and does not.
    const checks = (scenarios.get(scenario) ?? []).filter(
      ({ id, details }) =>
        details?.untestable !== true &&
        (id !== "sep-2549-prompts-list-caching-hints" || "prompts" in capabilities),
    );
    expect(checks.filter(({ status }) => status === "SUCCESS").length, scenario).toBeGreaterThan(0);
    expect(faultsOf(checks), scenario).toEqual([]);
  }
}
