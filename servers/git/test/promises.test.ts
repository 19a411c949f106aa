import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { VECTORS } from "./vectors.ts";

const read = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");
const { promises, traps } = JSON.parse(read("promises.json")) as {
  promises: { promise: string; proofs: string[] }[];
  traps: string[];
};

// The README's section on safety is generated from these promises.
it.each(promises)("$promise", ({ proofs }) => {
  for (const proof of proofs) {
    const [file = "", title] = proof.split(/: (.*)/s);
    expect(read(file), proof).toContain(`it("${title}"`);
  }
});

it("The traps are those of the trap repository.", () => {
  expect(traps).toEqual(VECTORS.map(({ name }) => name));
});
