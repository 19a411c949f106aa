import { it } from "vitest";
import { compareNames } from "./git-suite-names.ts";
import { useTestDirectory } from "./upstream.ts";

useTestDirectory();

it("are read as written by git: untracked, added, changed, renamed, found and shown", () =>
  compareNames(8));
