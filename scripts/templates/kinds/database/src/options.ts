import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  dbPath: {
    type: "file",
    heading: "Database",
    ask: true,
    title: "Database file",
    description: "The SQLite file with the notes. It is only read.",
  },
});
