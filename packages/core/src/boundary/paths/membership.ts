import { isInside, mayBeInside, type Platform } from "./platform.ts";
import { isSpecialPlace } from "./special-places.ts";
import type { AllowedDirectory, Bound } from "./types.ts";

/** Answers, by text, which allowed directory something belongs to. */
export interface Membership {
  /** The innermost allowed directory around an absolute real path; cached state is enough. */
  around(realPath: string): AllowedDirectory | undefined;
  /** The same, but checks the directories again before it returns undefined. */
  surelyAround(realPath: string): AllowedDirectory | undefined;
}

/**
 * Whether there is a directory that `realPath` may be in under another name, so that its text alone does not
 * say which one it belongs to.
 */
export function hasOtherSpelling(realPath: string, bound: Bound, platform: Platform): boolean {
  return bound
    .directories()
    .some(
      ({ realPath: directory }) =>
        !isInside(realPath, directory, platform) && mayBeInside(realPath, directory, platform),
    );
}

export function membershipOf(bound: Bound, platform: Platform): Membership {
  const innermost = (realPath: string, which: (directory: AllowedDirectory) => boolean) => {
    let found: AllowedDirectory | undefined;
    for (const directory of bound.directories()) {
      if (!isInside(realPath, directory.realPath, platform) || !which(directory)) continue;
      if (found === undefined || directory.realPath.length > found.realPath.length) found = directory;
    }
    return found;
  };
  const around = (realPath: string): AllowedDirectory | undefined => {
    if (isSpecialPlace(realPath, platform)) return undefined;
    const found = innermost(realPath, () => true);
    if (found?.unavailable === undefined) return found;
    // It may have returned, and be read-only even if its parent is not.
    bound.refresh?.();
    return innermost(realPath, (directory) => directory.unavailable === undefined);
  };
  return {
    around,
    surelyAround(realPath) {
      const found = around(realPath);
      if (found !== undefined || bound.refresh === undefined) return found;
      bound.refresh();
      return around(realPath);
    },
  };
}
