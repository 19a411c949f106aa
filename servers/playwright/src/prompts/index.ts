// Written by `pnpm generate`.
import debugFailure from "./debug-failure.ts";
import writeTest from "./write-test.ts";

export const prompts = [debugFailure, writeTest];
