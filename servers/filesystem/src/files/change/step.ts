import type { Stats } from "node:fs";
import type { PathGuard } from "@refmcp/boundary";
import type { ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import type { State } from "../store/record.ts";
import type { Recording } from "../store/recording.ts";
import type { Content } from "../store/state.ts";
import type { Store } from "../store/store.ts";

/** What a path gets. */
export type NewContent =
  /** With `isOptional`, a directory that is in use stays. */
  | { readonly kind: "nothing"; readonly isOptional?: boolean }
  | { readonly kind: "directory" }
  /** `before`: the file that was read, which must be unchanged. */
  | {
      readonly kind: "bytes";
      readonly bytes: Uint8Array;
      readonly before: Stats | undefined;
    }
  | { readonly kind: "copy"; readonly from: string }
  /** What the store kept. */
  | { readonly kind: "image"; readonly image: string };

/** A step of a plan. */
export type Step = (
  | { readonly kind: "put"; readonly path: string; readonly content: NewContent }
  | {
      readonly kind: "rename";
      readonly path: string;
      readonly to: string;
    }
  /** Adds bytes at the end, in place. */
  | {
      readonly kind: "append";
      readonly path: string;
      readonly bytes: Uint8Array | { readonly image: string };
      readonly before?: Stats | undefined;
    }
  /** Removes the bytes from `from` to `size`, in place. */
  | { readonly kind: "cut"; readonly path: string; readonly from: number; readonly size: number }
) & {
  /** Of an undo: what a path must still be, and the change that made it so. */
  readonly requires?:
    | { readonly path: string; readonly state: State; readonly change: string }
    | undefined;
};

/** What a step did, for the answer. */
export interface Outcome {
  /** What was copied. */
  readonly content?: Omit<Content, "newest_ms">;
  /** Links and special files that were not copied, below the source. */
  readonly skipped?: readonly string[];
  /** The size of the file that was replaced. */
  readonly replaced?: number | undefined;
  /** Where the rest of something is that the system refused to delete. */
  readonly leftover?: string | undefined;
}

export interface RunOptions {
  /** Called from time to time with what is done: files or, of a single directory, its entries. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether the caller holds the locks of the paths. */
  readonly isLocked?: boolean;
}

/** What the functions that make a step work with. */
export interface Making {
  readonly guard: PathGuard;
  readonly store: Store;
  readonly recording: Recording;
  readonly signal: AbortSignal | undefined;
}

export const directoryStep = (path: string): Step => {
  return { kind: "put", path, content: { kind: "directory" } };
};

export const isDirectoryStep = (step: Step): boolean =>
  step.kind === "put" &&
  (step.content.kind === "directory" ||
    (step.content.kind === "nothing" && step.content.isOptional === true));

export function changedSince(path: string, change: string): ToolError {
  return failure(
    "changed_since",
    `${named(path)} has changed since change ${change}; it was left unchanged.`,
  );
}

export function justChanged(path: string): ToolError {
  return failure("just_changed", `${named(path)} was just changed by another program.`);
}
