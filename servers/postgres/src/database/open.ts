import { randomUUID } from "node:crypto";
import { type Databases, withNear } from "@refmcp/sql";
import { PostgresDatabase } from "./database.ts";
import { openConnection } from "./driver/connect.ts";
import { type Environment, namesAServer } from "./driver/conninfo.ts";
import { embedded as embeddedSource } from "./driver/embedded.ts";
import { failure } from "./driver/errors.ts";
import { Sessions, type Source, type WorkLimits } from "./driver/sessions.ts";
import { targetOf } from "./driver/target.ts";
import { kind } from "./kind.ts";

interface Opening extends Pick<Databases, "guard" | "changes"> {
  readonly work: WorkLimits;
  readonly url: string | undefined;
  readonly named: readonly { readonly name: string; readonly value: string }[];
  readonly embedded: { readonly directory: string | undefined } | undefined;
  readonly env: Environment;
  log(sentence: string): void;
}

/** The name of the default database. */
const MAIN = "main";

/**
 * All databases of this server; each is connected to on first use.
 *
 * @throws ToolError `invalid` for a connection string that libpq would refuse
 */
export function openDatabases({
  work,
  url,
  named,
  embedded,
  env,
  log,
  ...shared
}: Opening): Databases<PostgresDatabase> {
  const databases = new Map<string, PostgresDatabase>();
  const add = (name: string, label: string, source: Source, identity = label) =>
    databases.set(name, new PostgresDatabase(name, new Sessions(label, work, source), identity));
  const addServer = (name: string, text: string | undefined) => {
    const target = targetOf(text, env);
    add(name, target.label, { open: () => openConnection(target) });
  };
  const { maxConnections } = work;
  if (embedded !== undefined)
    add(
      MAIN,
      "embedded",
      embeddedSource({ ...embedded, maxConnections }, log),
      // One that is removed at the end has no other name.
      `embedded ${embedded.directory ?? randomUUID()}`,
    );
  else if (url !== undefined || (named.length === 0 && namesAServer(env))) addServer(MAIN, url);
  for (const { name, value } of named) addServer(name, value);
  const names = [...databases.keys()];
  return {
    ...shared,
    kind,
    names,
    async at(name) {
      const [first] = databases.values();
      const database = name === undefined ? first : databases.get(name);
      if (database !== undefined) return database;
      if (first === undefined || name === undefined)
        throw failure("unconfigured", "No database is configured.");
      const hint = `Configured: ${names.join(", ")}. --db NAME=URL adds one.`;
      throw withNear("database", name, names, hint);
    },
    async close() {
      for (const { sessions } of databases.values()) await sessions.close();
    },
  };
}
