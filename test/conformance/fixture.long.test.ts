import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleServer } from "../bundle.ts";
import { fetchProgram, type Program } from "./programs.ts";
import { faultsOf, runSuite, scoredScenarios, taskScenarios } from "./scenarios.ts";

/** The scored requirement sets, and how many server scenarios each has. */
const REQUIREMENTS = [
  { revision: "2025-11-25", count: 30 },
  { revision: "2026-07-28", count: 37 },
] as const;

/** Checks of a scored scenario that do not apply: this server's tools and prompts never change. */
const NOT_APPLICABLE = [
  "sep-2575-server-sends-prompts-list-changed-on-subscription",
  "sep-2575-server-sends-tools-list-changed-on-subscription",
];

let server: HttpProcess | undefined;
let removeBundle: (() => Promise<void>) | undefined;

beforeAll(async () => {
  const { file, remove } = await bundleServer("conformance/fixtures/everything.ts");
  removeBundle = remove;
  // The suite expects a task from a call that takes a second.
  server = await startHttp(file, { args: ["--task-after-ms", "300"] });
});
afterAll(async () => {
  const ended = await server?.stop();
  await removeBundle?.();
  expect(ended?.code).toBe(0);
});

const endpoint = (): URL => {
  if (server === undefined) throw new Error("The fixture server does not listen yet.");
  return server.url;
};

describe("the official suite and a server built on core", () => {
  let suite: Program;
  beforeAll(async () => {
    suite = await fetchProgram("suite");
  });

  it.each(REQUIREMENTS)(
    "all $count scored scenarios of $revision, without a warning",
    async (required) => {
      const scored = await scoredScenarios(suite, required.revision);
      expect(scored).toHaveLength(required.count);
      const { code, output, scenarios } = await runSuite(suite, endpoint(), [
        "--requirements",
        required.revision,
      ]);
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
    },
  );

  it("every scenario of the tasks extension, without a warning", async () => {
    const names = await taskScenarios(suite);
    expect(names).toHaveLength(10);
    for (const name of names) {
      const { code, output, scenarios } = await runSuite(suite, endpoint(), ["--scenario", name]);
      const checks = scenarios.get(name) ?? [];
      // The suite does not look at notifications of tasks yet.
      const passed = name === "tasks-status-notifications" ? ["SKIPPED"] : ["SUCCESS"];
      expect([...new Set(checks.map(({ status }) => status))], name).toEqual(passed);
      expect(code, output.slice(-2000)).toBe(0);
    }
  });
});

describe("the released suite and a server built on core", () => {
  it("all active scenarios, without a warning", async () => {
    const suite = await fetchProgram("earlierSuite");
    const { code, output, scenarios } = await runSuite(suite, endpoint(), ["--suite", "active"]);
    expect(scenarios.size).toBe(30);
    for (const [name, checks] of scenarios) expect(faultsOf(checks), name).toEqual([]);
    expect(code, output.slice(-2000)).toBe(0);
  });
});
