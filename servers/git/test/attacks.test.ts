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

/** What the tools do in the harmless twin. */
function twin(base = PLAIN, only: readonly string[] = []): Promise<Map<string, Found>> {
  const key = JSON.stringify([base.name, only]);
  const known = controls.get(key) ?? control(ours, base, only);
  controls.set(key, known);
  return known;
}

// Every trap on the tools that meet it first; attacks.long.test.ts has every trap on every tool.
describe("a hostile repository", () => {
  it.each(VECTORS)("executes nothing, and the answers are right: $name", async (vector) => {
    const right = await twin(vector.base, vector.meets);
    // Where the twin refuses, nothing would be executed in any case; a missing object and a locked remote are the point.
    if (vector.base === undefined)
      expect([...right.values()].filter(({ outcome }) => outcome.startsWith("error"))).toEqual([]);
    await resists(ours, vector, right, vector.meets);
  });
});
