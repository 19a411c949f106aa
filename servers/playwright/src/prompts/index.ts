// Written by `pnpm generate`.
import writeTest from "./write-test.ts";

export const prompts = [writeTest];
