import { expect, it } from "vitest";
import { loadSqlite, versionProblem } from "./native.ts";

it("refuses better-sqlite3 13 on Node.js 20 in a sentence, before it is loaded", () => {
  expect(versionProblem("13.2.0", "20.19.0")).toBe(
    "better-sqlite3 13.2.0 needs Node.js 22 or newer; this is Node.js 20.19.0.",
  );
  expect(versionProblem("13.2.0", "22.1.0")).toBeUndefined();
  expect(versionProblem("13.2.0", "24.0.0")).toBeUndefined();
  expect(versionProblem("12.11.1", "20.19.0")).toBeUndefined();
});

it("loads the one that is installed", async () => {
  const Sqlite = await loadSqlite();
  const db = new Sqlite(":memory:");
  expect(db.prepare("SELECT 1 AS one").get()).toEqual({ one: 1 });
  db.close();
});
