import { testReady } from "./ready.ts";

// One that needs a program, and one that needs a file; ready.long.test.ts has all.
testReady(["git", "sqlite"]);
