import { defineOptions } from "@refmcp/core";
import { limitOptions, undoOptions } from "@refmcp/sql/options";

export const options = defineOptions({
  dbPath: {
    type: "file",
    env: ["SQLITE_DB_PATH"],
    heading: "Databases",
    ask: true,
    form: {
      title: "Database file",
      help: "The SQLite file, often with the ending .db or .sqlite.",
    },
    description:
      "The database file. With --allow-ddl, the first CREATE TABLE creates it if it doesn't exist.",
  },
  db: {
    type: "file",
    named: "unique",
    valueName: "NAME=FILE",
    heading: "Databases",
    description: "Another database with a name, for the tools' database argument.",
  },
  allowWrite: {
    type: "flag",
    heading: "Safety",
    form: {
      title: "Allow changing data",
      help: "The assistant may insert, update and delete rows. Otherwise it can only read.",
    },
    description: "Offer execute, import_csv and undo_database_change, which change data.",
  },
  allowDdl: {
    type: "flag",
    heading: "Safety",
    form: {
      title: "Allow changing tables",
      help: "The assistant may also create, change and drop tables.",
    },
    description: "With --allow-write, let execute change the schema too.",
  },
  ...undoOptions,
  maxMemoryMb: {
    type: "integer",
    min: 64,
    max: 65_536,
    default: 512,
    valueName: "MB",
    heading: "Limits",
    description: "Memory limit of one query's process, which is stopped if it exceeds it.",
  },
  ...limitOptions,
});

const FLAGS = /^--(no-)?(allow-write|allow-ddl|undo|forget-changes|read-only|http|print-config)$/;
const DATABASE_FILE = /^(?!-).+\.(db|db3|sqlite|sqlite3)$/i;

/** The command line in the form of the option table: a database file without a flag becomes `--db-path`. */
export function normalArguments(argv: readonly string[]): string[] {
  return argv.flatMap((argument, index) => {
    const before = argv[index - 1] ?? "";
    const isValue = before.startsWith("--") && !before.includes("=") && !FLAGS.test(before);
    return !isValue && DATABASE_FILE.test(argument) ? ["--db-path", argument] : [argument];
  });
}
