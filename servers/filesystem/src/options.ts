import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  readOnlyDirs: {
    type: "directory",
    list: true,
    flag: "read-only-dir",
    heading: "Directories",
    description: "A read-only directory. Repeatable.",
  },
  ignore: {
    type: "string",
    list: true,
    commas: false,
    valueName: "GLOB",
    heading: "Directories",
    description:
      'Entries to hide from trees and searches in addition to those of .gitignore, for example "*.log".',
  },
  maxReadChars: {
    type: "integer",
    min: 1_000,
    max: 80_000,
    default: 80_000,
    heading: "Limits",
    description: "Maximum characters in a response when reading a range.",
  },
  journal: {
    type: "flag",
    default: true,
    heading: "Safety",
    description:
      "Keep the previous content of changed and deleted files, so that undo_change can restore it. " +
      "Without it, deleted and replaced files still go to a trash.",
  },
  journalDays: {
    type: "integer",
    min: 1,
    max: 3650,
    default: 30,
    heading: "Safety",
    description:
      "Days to keep a change in the journal, which holds at most 1,000 changes and 200 MB per directory.",
  },
  forgetChanges: {
    type: "flag",
    heading: "Safety",
    description: "Erase the journal of the allowed directories on the first call.",
  },
  journalDir: {
    type: "directory",
    heading: "Safety",
    description:
      "Where to keep the journal, and what is deleted. Default: the user's state directory.",
  },
});
