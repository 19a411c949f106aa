import type { GuardedDirectory, PathGuard } from "@refmcp/core/boundary";
import type { Glob } from "../glob/glob.ts";
import type { IgnoreScope } from "../glob/ignore-scope.ts";
import type { TextPattern } from "./text-pattern.ts";

/** Which files of a tree are searched for what. */
export interface LocateRequest {
  readonly guard: PathGuard;
  readonly root: GuardedDirectory;
  readonly pattern: TextPattern;
  /** Which files are of interest; all without it. */
  readonly glob: Glob | undefined;
  /** The glob's text, for a program that can use it. */
  readonly globText: string | undefined;
  /** The rules from above `root`; undefined searches ignored files as well. */
  readonly ignore: IgnoreScope | undefined;
  readonly signal: AbortSignal;
}

/** A file with lines that match. */
export interface Located {
  /** Below the root, with `/` between components. */
  readonly path: string;
  /** How many lines match. */
  readonly lines: number;
}

/**
 * Finds the files with lines that match, in any order, and nothing that lies outside of the tree. What is shown of
 * them is read anew.
 */
export type Locate = (request: LocateRequest, found: (located: Located) => void) => Promise<void>;
