export { type Deadline, startDeadline } from "./deadline.ts";
export {
  type ClientRoot,
  type ConfiguredDirectory,
  DirectoryBound,
  type DirectoryBoundOptions,
  describeBound,
} from "./paths/directories.ts";
export { type KeyedLock, keyedLock } from "./paths/keyed-lock.ts";
export { ownDirectory } from "./paths/open.ts";
export { createPathGuard, type PathGuard } from "./paths/path-guard.ts";
export { errorCode, systemError } from "./paths/system-error.ts";
export { temporaryName } from "./paths/temporary-file.ts";
export type {
  AllowedDirectory,
  Bound,
  DirectorySource,
  GuardedDirectory,
  GuardedFile,
  GuardedPlace,
  LinkTarget,
  ReadHandle,
  WriteOptions,
} from "./paths/types.ts";
export { WaitingLine } from "./waiting-line.ts";
