import { defineOptions } from "@refmcp/core";
import { spaceProblem } from "./graph/location.ts";

export const options = defineOptions({
  file: {
    type: "file",
    env: ["MEMORY_FILE_PATH"],
    heading: "Memory",
    form: {
      title: "Memory file",
      help: "Where the memory is kept. Leave it empty to let the server choose a place.",
    },
    description:
      "The SQLite file that stores the memory; created if missing. A .jsonl or .json file of the official server is imported into a .db file next to it and left unchanged. Default: memory.db in the platform's data directory.",
  },
  store: {
    type: "secret",
    valueName: "URL",
    heading: "Memory",
    description:
      "Store the memory in PostgreSQL instead, to share it between machines: postgres://user:password@host/database.",
  },
  space: {
    type: "string",
    default: "default",
    valueName: "NAME",
    heading: "Memory",
    description: "Use a separate memory with this name, for example one for each project.",
    check: spaceProblem,
  },
});
