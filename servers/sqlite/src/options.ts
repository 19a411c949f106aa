import { defineOptions } from "@refmcp/core";
import { limitOptions } from "@refmcp/sql/limits";

export const options = defineOptions({
  dbPath: {
    type: "file",
    env: ["SQLITE_DB_PATH"],
    heading: "Databases",
    ask: true,
    title: "Database file",
    description: "The database file; made where there is none and --allow-ddl is given.",
  },
  db: {
    type: "file",
    named: "unique",
    valueName: "NAME=FILE",
    heading: "Databases",
    description: "A further database under a name, which tools take as database.",
  },
  allowWrite: {
    type: "flag",
    heading: "Safety",
    title: "Allow changing data",
    description: "Offer write_query and run_transaction, which change data.",
  },
  allowDdl: {
    type: "flag",
    heading: "Safety",
    title: "Allow changing the schema",
    description: "Offer create_table, and let writing tools change the schema.",
  },
  maxMemoryMb: {
    type: "integer",
    min: 64,
    max: 65_536,
    default: 512,
    valueName: "MB",
    heading: "Limits",
    description: "Memory of one query's process; it is stopped beyond.",
  },
  ...limitOptions,
});
