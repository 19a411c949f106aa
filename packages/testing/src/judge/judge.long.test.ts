import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectEnded,
  expectFound,
  expectGood,
  PLANTED,
  plantedFolder,
} from "../../test/planted/planted.ts";
import { run } from "./cli.ts";
import { ruleIds } from "./rules.ts";

let folder = "";
beforeAll(async () => {
  folder = await plantedFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.concurrent("every rule finds the defect that is planted for it", () => {
  it.for(ruleIds())("%s", (rule, context) => expectFound(folder, rule, context));
});

it("a good server over HTTP has no finding", () => expectGood(folder, true));

describe("a program that never answers is ended", () => {
  it.each([
    [
      "writes a line without an end",
      'setInterval(() => process.stdout.write("x".repeat(1_000_000)))',
    ],
    ["returns what it reads", "process.stdin.pipe(process.stdout)"],
  ])("%s", (_, program) => expectEnded(folder, program));
});

it("a report as SARIF 2.1.0 has the rules, and results that refer to them", async () => {
  const file = join(folder, "judge.sarif");
  const lines: string[] = [];
  const options = ["--only", "tool,request", "--format", "sarif", "--output", file];
  const command = ["--artifact", "src/server.ts", "--", process.execPath, PLANTED, "tool-schema"];
  const code = await run([...options, ...command], "0.0.0", {
    stdout: (text) => expect(text).toBe(""),
    stderr: (text) => void lines.push(text),
    isInteractive: false,
  });
  expect(code).toBe(1);
  expect(lines.join("")).toMatch(
    /^\d+ errors?, \d+ warnings?, \d+ notes?: see .*judge\.sarif\.\n$/,
  );
  const { version, $schema, runs } = JSON.parse(await readFile(file, "utf8"));
  expect([version, $schema, runs.length]).toEqual([
    "2.1.0",
    "https://json.schemastore.org/sarif-2.1.0.json",
    1,
  ]);
  const [{ tool, results }] = runs;
  const { name, rules } = tool.driver;
  expect(name).toBe("refmcp-judge");
  expect(rules.map(({ id }: { id: string }) => id)).toEqual(ruleIds());
  for (const { shortDescription, fullDescription, help, defaultConfiguration } of rules) {
    for (const { text: words } of [shortDescription, fullDescription, help])
      expect(words).toMatch(/\.$/);
    expect(["error", "warning", "note"]).toContain(defaultConfiguration.level);
  }
  expect(results.length).toBeGreaterThan(0);
  for (const { ruleId, ruleIndex, level, message, locations, partialFingerprints } of results) {
    expect(rules[ruleIndex].id).toBe(ruleId);
    expect(["error", "warning", "note"]).toContain(level);
    expect(message.text).not.toBe("");
    expect(locations[0].physicalLocation.artifactLocation.uri).toBe("src/server.ts");
    expect(locations[0].logicalLocations[0].fullyQualifiedName).toMatch(/^planted\//);
    expect(Object.values(partialFingerprints)[0]).toMatch(/^[0-9a-f]{64}$/);
  }
});
