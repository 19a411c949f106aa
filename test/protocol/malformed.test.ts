import { testMalformed } from "./malformed.ts";
import { MODERN } from "./revisions.ts";

// One revision of each era; malformed.long.test.ts has all.
testMalformed(["2025-03-26", MODERN]);
