export { type Deadline, startDeadline } from "./deadline.ts";
export {
  type ClientRoot,
  type ConfiguredDirectory,
  DirectoryBound,
  type DirectoryBoundOptions,
  describeBound,
} from "./directories.ts";
export { createPathGuard } from "./path-guard.ts";
export type { ReadHandle } from "./read-handle.ts";
export type {
  AllowedDirectory,
  Bound,
  DirectorySource,
  GuardedDirectory,
  GuardedFile,
  GuardedPlace,
  LinkTarget,
  PathGuard,
  WriteOptions,
} from "./types.ts";
