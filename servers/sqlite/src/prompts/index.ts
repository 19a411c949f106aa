// Written by `pnpm generate`.
import demo from "./demo.ts";
import explore from "./explore.ts";
import optimise from "./optimise.ts";
import writeQuery from "./write-query.ts";

export const prompts = [demo, explore, optimise, writeQuery];
