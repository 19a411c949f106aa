// Written by `pnpm generate`.
import debugError from "./debug-error.ts";

export const prompts = [debugError];
