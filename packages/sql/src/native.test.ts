import { expect, it } from "vitest";
import { versionProblem } from "./native.ts";

it("explains a better-sqlite3 that would crash when it is loaded", () => {
  expect(versionProblem("13.2.0", { node: "20.19.0", napi: "9" })).toBe(
    "better-sqlite3 13.2.0 needs Node.js 22.14 or newer; this is Node.js 20.19.0.",
  );
  expect(versionProblem("13.2.0", { node: "22.14.0", napi: "10" })).toBeUndefined();
  expect(versionProblem("12.11.1", { node: "20.19.0", napi: "9" })).toBeUndefined();
});
