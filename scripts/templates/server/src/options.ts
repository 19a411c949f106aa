import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  maxFileBytes: {
    type: "integer",
    min: 1_024,
    max: 64 * 1_048_576,
    default: 1_048_576,
    heading: "Limits",
    description: "Largest file that is read, in bytes.",
  },
});
