export { type Deadline, startDeadline } from "./deadline.ts";
export { Line } from "./line.ts";
export {
  type EntryType,
  openBelow,
  ownDirectory,
  statOf,
  typeOf,
  type WalkedDirectory,
  type WalkedEntry,
} from "./paths/below.ts";
export { realPathOf } from "./paths/check.ts";
export { type ClientRoot, DirectoryAllowlist } from "./paths/directories.ts";
export { giveFreeName, moveInto, temporaryName } from "./paths/move.ts";
export { within } from "./paths/names.ts";
export { describeAllowed, errorCode, systemError } from "./paths/path-errors.ts";
export { createPathGuard, hiddenAt, type PathGuard, withHidden } from "./paths/path-guard.ts";
export { ensureDirectory, openStateDirectory, stateDirectories } from "./paths/state-directory.ts";
export { copyData, copyTree, removeTree } from "./paths/tree.ts";
export type {
  AllowedDirectories,
  GuardedDirectory,
  GuardedFile,
  GuardedPlace,
  HiddenPlaces,
} from "./paths/types.ts";
export { whileHeld } from "./paths/while-held.ts";
export { createTemporaryFile } from "./paths/write.ts";
export { TimeSlices } from "./time-slices.ts";
