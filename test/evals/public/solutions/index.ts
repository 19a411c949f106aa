import type { Solution } from "../run.ts";
import { codebases } from "./codebases.ts";
import { employees } from "./employees.ts";
import { folders } from "./folders.ts";
import { lego } from "./lego.ts";
import { postgres } from "./postgres.ts";
import { prepared } from "./prepared.ts";

/** Our reference solutions by the task's id. */
export const solutions: Readonly<Record<string, Solution>> = {
  ...codebases,
  ...folders,
  ...employees,
  ...lego,
  ...postgres,
  ...prepared,
};
