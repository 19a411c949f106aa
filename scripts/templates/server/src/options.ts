import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  maxNoteBytes: {
    type: "integer",
    min: 1_024,
    max: 64 * 1_048_576,
    default: 1_048_576,
    heading: "Notes",
    description: "Largest note that is read, in bytes.",
  },
});
