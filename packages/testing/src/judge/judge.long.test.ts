import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import { expectFound, plantedFolder } from "../../test/planted/planted.ts";
import { ruleIds } from "./rules.ts";

let folder = "";
beforeAll(async () => {
  folder = await plantedFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.concurrent("every rule finds the defect that is planted for it", () => {
  it.for(ruleIds())("%s", (rule, context) => expectFound(folder, rule, context));
});
