export { type Deadline, startDeadline } from "./deadline.ts";
export { Line } from "./line.ts";
export {
  type ClientRoot,
  type ConfiguredDirectory,
  DirectoryAllowlist,
  type DirectoryAllowlistOptions,
} from "./paths/directories.ts";
export { ensureDirectory } from "./paths/ensure-directory.ts";
export { realPathOf } from "./paths/existing.ts";
export { giveFreeName, temporaryName } from "./paths/move.ts";
export { ownDirectory } from "./paths/open.ts";
export { describeAllowed, errorCode, systemError } from "./paths/path-errors.ts";
export { createPathGuard, type PathGuard, withHidden } from "./paths/path-guard.ts";
export {
  hiddenAt,
  openStateDirectory,
  stateDirectories,
  within,
} from "./paths/state-directory.ts";
export { copyData } from "./paths/tree.ts";
export type {
  AllowedDirectories,
  AllowedDirectory,
  DirectorySource,
  GuardedDirectory,
  GuardedFile,
  GuardedPlace,
  HiddenPlaces,
  LinkTarget,
  ReadHandle,
  WriteOptions,
} from "./paths/types.ts";
export { whileHeld } from "./paths/while-held.ts";
export { createTemporaryFile } from "./paths/write.ts";
