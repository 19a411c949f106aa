import { testAttacks } from "./attacks.ts";
import { ALL_CALLS } from "./matrix.ts";
import { VECTORS } from "./vectors.ts";

testAttacks(VECTORS, ALL_CALLS, { timeout: 1_200_000 });
