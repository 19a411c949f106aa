import { join } from "node:path";
import { benchProblems, filesOf } from "@refmcp/testing/internal/layout";
import { expect, it } from "vitest";
import { ROOT } from "../servers.ts";

it("every module in test/bench is a benchmark; shared code is in bench/lib", () => {
  const folder = join(ROOT, "test", "bench");
  expect(filesOf(folder)).not.toEqual([]);
  expect(benchProblems(folder)).toEqual([]);
});
