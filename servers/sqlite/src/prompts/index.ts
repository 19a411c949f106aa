// Written by `pnpm generate`.
import explore from "./explore.ts";

export const prompts = [explore];
