// Written by `pnpm generate`.
import demo from "./demo.ts";
import explore from "./explore.ts";

export const prompts = [demo, explore];
