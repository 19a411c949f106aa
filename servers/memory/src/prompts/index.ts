// Written by `pnpm generate`.
import recall from "./recall.ts";

export const prompts = [recall];
