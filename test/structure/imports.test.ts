import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { circles, idleExports, wayAround } from "./imports.ts";

/** What existed when these tests were written. The lists may only get shorter. */
const FILE = fileURLToPath(new URL("imports.json", import.meta.url));
const allowed: { circles: string[][]; unused: string[]; onlyTests: string[] } = JSON.parse(
  readFileSync(FILE, "utf8"),
);
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

it("sources do not import each other in a circle, not even types", () => {
  const now = circles();
  const added = now.flatMap((circle) => {
    const listed = allowed.circles.find((files) => files.some((file) => circle.includes(file)));
    const extra = circle.find((file) => !listed?.includes(file));
    return extra === undefined ? [] : [wayAround(extra, circle).join("\n  imports ")];
  });
  const advice = "Move what both files need into a third, or pass it as a parameter";
  expect(added, `A new circle of imports. ${advice}. ${MOVED}`).toEqual([]);
  expectShortened("circles", now);
});

it.each([
  ["unused", "no other file uses", "Delete what it exports, or only the word export"],
  ["onlyTests", "only tests or scripts use", "Test what the sources use, or move it to the tests"],
] as const)("no export is %s: one that %s", (key, _, advice) => {
  const now = idleExports()[key];
  const added = now.filter((name) => !allowed[key].includes(name));
  expect(added, `A new export is ${key}. ${advice}. ${MOVED}`).toEqual([]);
  expectShortened(key, now);
});
