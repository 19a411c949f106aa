import type { KeyedLock } from "./keyed-lock.ts";
import type { Membership } from "./membership.ts";
import type { Opener } from "./opener.ts";
import type { Platform } from "./platform.ts";
import type { Bound } from "./types.ts";

/** Shared by the guard's operations. */
export interface GuardContext {
  readonly bound: Bound;
  readonly membership: Membership;
  readonly opener: Opener;
  readonly platform: Platform;
  /** Serializes writers of one file in this process; the key is its real path. */
  readonly writing: KeyedLock;
}
