import { defineOptions } from "@refmcp/core";
import { spaceProblem } from "./graph/place.ts";

export const options = defineOptions({
  file: {
    type: "file",
    env: ["MEMORY_FILE_PATH"],
    heading: "Memory",
    description:
      "The SQLite file that keeps the memory; made where there is none. A .jsonl or .json file of the official server is imported into a .db file beside it and left as it is. Default: memory.db in the platform's data directory.",
  },
  store: {
    type: "secret",
    valueName: "URL",
    heading: "Memory",
    description:
      "Keep the memory in PostgreSQL instead, shared by many machines: postgres://user:password@host/database.",
  },
  space: {
    type: "string",
    default: "default",
    valueName: "NAME",
    heading: "Memory",
    description:
      "A memory of its own under this name, for example one for each project; auto makes the name from the client's first root or the working directory.",
    check: (value) => (value === "auto" ? undefined : spaceProblem(value)),
  },
});
