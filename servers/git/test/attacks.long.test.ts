import { tools } from "../src/tools/index.ts";
import { testAttacks } from "./attacks.ts";
import { EVERYTHING } from "./bases.ts";
import { callOf } from "./matrix.ts";
import { VECTORS } from "./vectors.ts";

testAttacks({
  vectors: VECTORS,
  calls: [...tools.map(({ name }) => callOf(name)), ...(EVERYTHING.calls ?? [])],
  timeout: 1_200_000,
});
