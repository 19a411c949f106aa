import { join } from "node:path";
import { expect, it } from "vitest";
import { benchProblems, filesOf } from "../../packages/core/src/testing/layout.ts";
import { ROOT } from "../servers.ts";

it("every module in test/bench is a benchmark; shared code is in bench/lib", () => {
  const folder = join(ROOT, "test", "bench");
  expect(filesOf(folder)).not.toEqual([]);
  expect(benchProblems(folder)).toEqual([]);
});
