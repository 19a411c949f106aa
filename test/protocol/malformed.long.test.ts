import { testMalformed } from "./malformed.ts";
import { REVISIONS } from "./revisions.ts";

testMalformed(REVISIONS);
