import type { OptionValues } from "@refmcp/core";

/** Rows of a call that sets no limit. */
export const STANDARD_ROWS = 200;

/** Options that limit every call, for the option table of a server. */
export const limitOptions = {
  maxRows: {
    type: "integer",
    min: 1,
    max: 10_000,
    default: 10_000,
    heading: "Limits",
    description: "Maximum rows per call. A call that sets no limit gets 200.",
  },
  maxBytes: {
    type: "integer",
    min: 1_024,
    max: 67_108_864,
    default: 262_144,
    heading: "Limits",
    description: "Maximum bytes of rows per call.",
  },
  maxCellBytes: {
    type: "integer",
    min: 64,
    max: 65_536,
    default: 8_192,
    heading: "Limits",
    description: "Longer values are truncated to this many bytes.",
  },
  queryTimeoutMs: {
    type: "integer",
    min: 100,
    max: 3_600_000,
    default: 30_000,
    valueName: "MS",
    heading: "Limits",
    description:
      "Time limit of one statement, in milliseconds. An export or import is stopped after this time without progress.",
  },
} as const;

export type LimitValues = OptionValues<typeof limitOptions>;

/** Options of the record of changes, for the option table of a server. */
export const undoOptions = {
  undo: {
    type: "flag",
    default: true,
    heading: "Safety",
    description:
      "Record the rows that a change replaces or deletes, so that they can be restored. Without it, every loss of rows needs confirmation.",
  },
  undoDays: {
    type: "integer",
    min: 1,
    max: 3650,
    default: 1,
    heading: "Safety",
    description:
      "Days to keep a recorded change, which has a copy of its rows; older ones are erased when the server is next used. At most 1,000 changes and 512 MB per database are kept.",
  },
  forgetChanges: {
    type: "flag",
    heading: "Safety",
    description: "Erase the record of changes on the first call.",
  },
  undoDir: {
    type: "directory",
    heading: "Safety",
    description: "Where to keep the record of changes. Default: the user's state directory.",
  },
} as const;

export type UndoValues = OptionValues<typeof undoOptions>;

/** The limits of one call: what it asks for, within the server's options. */
export const limitsOf = (
  { maxRows, maxBytes: bytes, maxCellBytes: cellBytes, queryTimeoutMs }: LimitValues,
  asked: { readonly maxRows?: number | undefined; readonly timeoutMs?: number | undefined },
) => ({
  rows: Math.min(asked.maxRows ?? STANDARD_ROWS, maxRows),
  bytes,
  cellBytes,
  timeoutMs: Math.min(asked.timeoutMs ?? queryTimeoutMs, queryTimeoutMs),
});
