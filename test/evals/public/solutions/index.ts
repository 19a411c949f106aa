import type { Solution } from "../run.ts";
import { codebases } from "./codebases.ts";
import { folders } from "./folders.ts";
import { postgres } from "./postgres.ts";

/** Our reference solutions by the task's id. */
export const solutions: Readonly<Record<string, Solution>> = { ...codebases, ...folders, ...postgres };
