import { join } from "node:path";
import { expect, it } from "vitest";
import { benchProblems, filesOf } from "../../packages/core/src/testing/layout.ts";
import { ROOT } from "../servers.ts";

it("every module of test/bench is a benchmark; what they share is in bench/lib", () => {
  const folder = join(ROOT, "test", "bench");
  expect(filesOf(folder)).not.toEqual([]);
  expect(benchProblems(folder)).toEqual([]);
});
