import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  dbPath: {
    type: "file",
    heading: "Database",
    ask: true,
    form: { title: "Database file", help: "The file with the data." },
    description: "The SQLite file with the notes. It is only read.",
  },
});
