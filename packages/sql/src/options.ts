import type { OptionValues } from "@refmcp/core";

/** Limits of every call, for the option table of a server. */
export const limitOptions = {
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
