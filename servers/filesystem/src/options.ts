import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  readOnlyDirs: {
    type: "directory",
    list: true,
    flag: "read-only-dir",
    heading: "Directories",
    description: "A read-only directory.",
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
  journalDays: {
    type: "integer",
    min: 0,
    max: 3650,
    default: 30,
    heading: "Safety",
    description:
      "Days to keep changes and deleted files for undo_change, at most 1,000 changes and 200 MB. " +
      "With 0, nothing is kept, and what was kept is erased at the start.",
  },
  journalDir: {
    type: "directory",
    heading: "Safety",
    description:
      "Where to keep the journal, and what is deleted. Default: the user's state directory.",
  },
});
