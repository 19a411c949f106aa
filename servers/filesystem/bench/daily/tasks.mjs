// All daily tasks, in the order of the table.
import { arranging } from "./arrange.mjs";
import { finding } from "./find.mjs";
import { writing } from "./write.mjs";

export const tasks = [...arranging, ...finding, ...writing];
