import { readFile, rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectEnded,
  expectFound,
  expectGood,
  PATIENT,
  PLANTED,
  plantedFolder,
} from "../../test/planted/planted.ts";
import { CannotJudge, judge } from "./judge.ts";
import { FAMILIES, familyOf, RULES, ruleIds } from "./rules.ts";

let folder = "";
beforeAll(async () => {
  folder = await plantedFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("a good server has no finding, with its author's calls and a watched directory", () =>
  expectGood(folder));

describe("a rule of each family finds its planted defect; the long tests try all rules, and HTTP", () => {
  const families = Object.keys(FAMILIES);
  const sample = ruleIds().filter(
    (rule, index, all) => all.findIndex((one) => familyOf(one) === familyOf(rule)) === index,
  );
  it("has a sample of every family", () =>
    expect(sample.map(familyOf).sort()).toEqual(families.sort()));
  it.for(sample.filter((rule) => familyOf(rule) !== "http"))("%s", (rule, context) =>
    expectFound(folder, rule, context),
  );
});

it("the planted server has a defect for each rule, and no other", async () => {
  const source = await readFile(PLANTED, "utf8");
  const planted = [...source.matchAll(/has\("([\w-]+)"\)|^ {2}"([\w-]+)": \(\) =>/gm)].map(
    ([, one, other]) => one ?? other,
  );
  expect([...new Set(planted)].sort()).toEqual(ruleIds().sort());
});

it("each rule says why and what to do, in a sentence", () => {
  for (const id of ruleIds()) {
    const { title, why, next } = RULES[id];
    expect(title, id).not.toMatch(/\.$/);
    expect(why, id).toMatch(/\.$/);
    expect(next, id).toMatch(/\.$/);
  }
});

it("a program that is not a server cannot be judged, and its stderr says why", async () => {
  const command = [process.execPath, "--eval", "console.error('No database.'); process.exit(1)"];
  const judging = judge({ target: { command, env: {}, cwd: folder }, limits: PATIENT });
  await expect(judging).rejects.toThrow(CannotJudge);
  await expect(judging).rejects.toThrow("No database.");
});

describe("a program that never answers is ended", () => {
  it.each([
    ["is silent", "setInterval(() => {}, 1_000)"],
    ["floods stdout with lines", 'setInterval(() => process.stdout.write("x\\n".repeat(10_000)))'],
  ])("%s", (_, program) => expectEnded(folder, program));
});
