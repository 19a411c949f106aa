import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { errorCode } from "@refmcp/boundary";
import { type Conninfo, malformed } from "./conninfo.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Path of a file in libpq's user directory: `~/.postgresql`, on Windows `%APPDATA%\postgresql`. */
export function userFile(name: string, env: Environment = process.env): string {
  return process.platform === "win32"
    ? join(env.APPDATA ?? homedir(), "postgresql", name)
    : join(env.HOME ?? homedir(), ".postgresql", name);
}

export interface PasswordOwner {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * The password for a connection in the password file (libpq, "The Password File"): that of the first matching line, where
 * `*` matches anything. Like libpq, ignores a file that other users can read.
 *
 * @returns no password if none matches; `problem` says why a file was ignored.
 */
export function passwordFromFile(
  owner: PasswordOwner,
  passfile: string | undefined,
  env: Environment = process.env,
): { password?: string; problem?: string } {
  const standard =
    process.platform === "win32" ? userFile("pgpass.conf", env) : join(env.HOME ?? homedir(), ".pgpass");
  const path = passfile ?? standard;
  const unused = (why: string) => ({ problem: `The password file ${path} is not used: ${why}` });
  let text: string;
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined) return passfile === undefined ? {} : unused("it does not exist.");
    if (!file.isFile()) return unused("it is not a regular file.");
    if (process.platform !== "win32" && (file.mode & 0o077) !== 0)
      return unused("other users can read it. Run chmod 600 on it.");
    text = readFileSync(path, "utf8");
  } catch (error) {
    return unused(`it can't be read (${errorCode(error)}).`);
  }
  const wanted = [owner.host, String(owner.port), owner.database, owner.user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = [...line.matchAll(/((?:[^:\\]|\\.|\\$)*)(?::|$)/g)].map(([, field = ""]) =>
      field.replace(/\\(.)/g, "$1"),
    );
    const [password] = fields.slice(4);
    if (password !== undefined && wanted.every((value, index) => [value, "*"].includes(fields[index] ?? "")))
      return { password };
  }
  return {};
}

/**
 * The parameters of a service (libpq, "The Connection Service File").
 *
 * @throws ToolError `invalid` if there is no service of that name.
 */
export function fromService(
  name: string,
  file: string | undefined,
  env: Environment = process.env,
): Conninfo {
  const own = join(env.HOME ?? homedir(), ".pg_service.conf");
  const shared = env.PGSYSCONFDIR === undefined ? [] : [join(env.PGSYSCONFDIR, "pg_service.conf")];
  for (const path of file === undefined ? [own, ...shared] : [file]) {
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch {
      continue;
    }
    const found = section(text, name);
    if (found !== undefined) return found;
  }
  throw malformed(
    `There is no service ${JSON.stringify(name.slice(0, 60))} in ${file ?? own}`,
    "Add it there, or give a URL instead.",
  );
}

function section(text: string, name: string): Conninfo | undefined {
  let info: Map<string, string> | undefined;
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    const heading = /^\[(.*)\]$/.exec(line)?.[1];
    if (heading !== undefined) {
      if (info !== undefined) return info;
      if (heading === name) info = new Map();
    } else if (info !== undefined && line !== "" && !line.startsWith("#")) {
      const at = line.indexOf("=");
      if (at > 0) info.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    }
  }
  return info;
}
