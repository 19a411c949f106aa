import type { Solution } from "../run.ts";
import { filesystem } from "./filesystem.ts";
import { postgres } from "./postgres.ts";

/** Our reference solutions by the task's id. */
export const solutions: Readonly<Record<string, Solution>> = { ...filesystem, ...postgres };
