// Written by `pnpm generate`.
import fetch from "./fetch.ts";

export const prompts = [fetch];
