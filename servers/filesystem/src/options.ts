import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  readOnlyDirs: {
    type: "directory",
    list: true,
    flag: "read-only-dir",
    heading: "Directories",
    description: "A directory that may be read and not changed; as many as you like.",
  },
  ignore: {
    type: "string",
    list: true,
    commas: false,
    valueName: "GLOB",
    heading: "Directories",
    description:
      'Entries to hide from trees and searches beside those of .gitignore and .ignore, for example "*.log".',
  },
  maxReadChars: {
    type: "integer",
    min: 1_000,
    max: 80_000,
    default: 80_000,
    heading: "Limits",
    description: "Most characters of one reading call that asks for a range.",
  },
  journal: {
    type: "flag",
    default: true,
    heading: "Safety",
    description: "Keep what is changed or deleted, so that undo_change can take it back.",
  },
  journalDays: {
    type: "integer",
    min: 1,
    max: 3650,
    default: 30,
    heading: "Safety",
    description:
      "Days that a change is kept in the journal; at most the last 1,000 and 200 MB per directory are.",
  },
  forgetChanges: {
    type: "flag",
    heading: "Safety",
    description: "With the first call, erase what the journal has kept of the allowed directories.",
  },
  journalDir: {
    type: "directory",
    heading: "Safety",
    description: "Where the journal is kept; by default in the user's state directory.",
  },
});
