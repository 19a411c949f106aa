import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { idleExports } from "./imports.ts";

/** What existed when these tests were written. The lists may only get shorter. */
const FILE = fileURLToPath(new URL("imports.json", import.meta.url));
const allowed: { unused: string[]; onlyTests: string[] } = JSON.parse(readFileSync(FILE, "utf8"));
const MOVED = "If a file only moved, change its path in test/structure/imports.json";

/** What is gone from the sources must leave the list, which SHORTEN=1 does. */
function expectShortened<K extends keyof typeof allowed>(key: K, now: (typeof allowed)[K]) {
  if (process.env["SHORTEN"] === undefined) {
    const advice = "in test: SHORTEN=1 npx vitest run structure/imports";
    expect(allowed[key], `test/structure/imports.json can be shorter; ${advice}`).toEqual(now);
    return;
  }
  allowed[key] = now;
  writeFileSync(FILE, `${JSON.stringify(allowed, undefined, 2)}\n`);
}

it.each([
  ["unused", "no other file uses", "Delete what it exports, or only the word export"],
  ["onlyTests", "only tests or scripts use", "Test what the sources use, or move it to the tests"],
] as const)("no export is %s: one that %s", (key, _, advice) => {
  const now = idleExports()[key];
  const added = now.filter((name) => !allowed[key].includes(name));
  expect(added, `A new export is ${key}. ${advice}. ${MOVED}`).toEqual([]);
  expectShortened(key, now);
});
