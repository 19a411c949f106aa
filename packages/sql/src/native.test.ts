import { expect, it } from "vitest";
import { versionProblem } from "./native.ts";

it.each([["13.2.0", "20.19.0", "9"]])(
  "refuses better-sqlite3 %s on Node.js %s with an explanation, since loading it would crash",
  (version, node, napi) => {
    expect(versionProblem(version, { node, napi })).toBe(
      `better-sqlite3 ${version} needs Node.js 22.14 or newer; this is Node.js ${node}.`,
    );
  },
);

it.each([
  ["13.2.0", "22.14.0", "10"],
  ["12.11.1", "20.19.0", "9"],
])("accepts better-sqlite3 %s on Node.js %s", (version, node, napi) => {
  expect(versionProblem(version, { node, napi })).toBeUndefined();
});
