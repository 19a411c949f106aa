import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { control, PLAIN, resists } from "./hostile.ts";
import { type Found, type Matrix, matrix } from "./matrix.ts";
import { VECTORS } from "./vectors.ts";

let ours: Matrix;
beforeAll(async () => {
  ours = await matrix();
});
afterAll(() => ours.dispose());

const controls = new Map<string, Promise<Map<string, Found>>>();

/** What all calls do in the harmless twin; once for all vectors of a base. */
function twin(base = PLAIN): Promise<Map<string, Found>> {
  const known = controls.get(base.name) ?? control(ours, base);
  controls.set(base.name, known);
  return known;
}

describe("a hostile repository", { timeout: 300_000 }, () => {
  it("has a twin in which every tool does real work, transfers too, so that no error hides an execution", async () => {
    const found = await twin();
    const failed = [...found].filter(([, { outcome }]) => outcome.startsWith("error"));
    expect(failed.map(([call, { outcome }]) => `${call} ${outcome.split("\n", 1)[0]}`)).toEqual([]);
    for (const [call, { outcome }] of found)
      if (/^git_(fetch|push)/.test(call))
        expect(outcome, call).toMatch(/refs\/(heads|remotes)\/|origin\/feature is at/);
  });

  it.each(VECTORS)("executes nothing on any tool, and every answer is right: $name", async (vector) => {
    await resists(ours, vector, await twin(vector.base));
  });
});
