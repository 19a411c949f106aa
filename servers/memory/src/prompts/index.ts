// Written by `pnpm generate`.
import recall from "./recall.ts";
import remember from "./remember.ts";

export const prompts = [recall, remember];
