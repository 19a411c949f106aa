import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { errorCode } from "@refmcp/boundary";
import { nearest } from "@refmcp/boundary/answer";
import { malformed } from "./errors.ts";

/** Connection parameters by libpq's keywords; see PARAMETERS. */
export type Conninfo = ReadonlyMap<string, string>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variables of libpq and their keywords (libpq, "Environment Variables"). */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  PGHOST: "host",
  PGHOSTADDR: "hostaddr",
  PGPORT: "port",
  PGDATABASE: "dbname",
  PGUSER: "user",
  PGPASSWORD: "password",
  PGPASSFILE: "passfile",
  PGSERVICE: "service",
  PGCONNECT_TIMEOUT: "connect_timeout",
  PGAPPNAME: "application_name",
  PGOPTIONS: "options",
  PGCHANNELBINDING: "channel_binding",
  PGSSLMODE: "sslmode",
  PGSSLROOTCERT: "sslrootcert",
  PGSSLCERT: "sslcert",
  PGSSLKEY: "sslkey",
  PGSSLNEGOTIATION: "sslnegotiation",
  PGTARGETSESSIONATTRS: "target_session_attrs",
};

/** Keywords that we support (libpq, "Parameter Key Words"). */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...Object.values(ENVIRONMENT),
  "fallback_application_name",
  "sslpassword",
]);

/** Whether the environment configures a server, even without a URL. */
export const namesAServer = (env: Environment): boolean =>
  [env.PGHOST, env.PGHOSTADDR, env.PGSERVICE, env.PGDATABASE].some(Boolean);

/**
 * All parameters, as libpq collects them: from the string, then the environment. Service files are not read.
 *
 * @throws ToolError `invalid`
 */
export function conninfoOf(text: string | undefined, env: Environment): Conninfo {
  const parameters = text === undefined ? new Map<string, string>() : parseConninfo(text);
  const around = new Map<string, string>();
  for (const [variable, keyword] of Object.entries(ENVIRONMENT)) {
    const value = env[variable];
    if (value) around.set(keyword, value);
  }
  const all = new Map([...around, ...parameters]);
  if (all.has("service"))
    throw malformed(
      "Service files are not read",
      "Write the parameters of the service: host=… dbname=….",
    );
  return all;
}

/**
 * Parses a connection string in either of libpq's forms ("Connection Strings"): `host=… user=…`, or a `postgres://` URI,
 * also with several hosts.
 *
 * @throws ToolError `invalid` that says what is wrong without showing the text, which may contain a password.
 */
export function parseConninfo(text: string): Conninfo {
  const uri = /^\s*postgres(?:ql)?:(.*)$/is.exec(text)?.[1];
  const pairs = uri === undefined ? keywordPairs(text.trimStart()) : uriPairs(uri.trimEnd());
  const info = new Map<string, string>();
  for (const [keyword, value] of pairs) {
    if (PARAMETERS.has(keyword)) info.set(keyword, value);
    // From node-pg and asyncpg; sslmode wins if both are given.
    else if (keyword === "ssl") info.set("sslmode", info.get("sslmode") ?? sslmodeOf(value));
    else requireNoTypo(keyword);
  }
  return info;
}

const sslmodeOf = (ssl: string) =>
  /^(true|1)$/.test(ssl) ? "require" : /^(false|0)$/.test(ssl) ? "disable" : ssl;

/** Parameters of libpq, Prisma and Supabase that we ignore although they resemble one that we support. */
const ELSEWHERE =
  /^(ssl(compression|sni|accept|identity|crl|crldir)|require_auth|(pool|socket)_timeout|connection_limit)$/;

/**
 * Unknown parameters are ignored, since other programs keep their own in a URL. One that looks like a typo is refused:
 * `sslmod=require` must not connect without TLS.
 *
 * @throws ToolError `invalid`
 */
function requireNoTypo(keyword: string): void {
  const [near] = ELSEWHERE.test(keyword) ? [] : nearest(keyword, PARAMETERS);
  if (near === undefined) return;
  throw malformed(
    `The connection parameter ${JSON.stringify(keyword.slice(0, 40))} is unknown`,
    `Did you mean ${near}? Otherwise remove it.`,
  );
}

function* uriPairs(uri: string): Generator<[string, string]> {
  // As in libpq, but without a second @ or a non-numeric port: they mean that the password is not encoded, and a message
  // that names the host would show part of it.
  const parts = /^\/\/(?:([^@/]*)@)?([^@/?]*)(?:\/([^@?]*))?(?:\?(.*))?$/s.exec(uri);
  if (parts === null)
    throw malformed(
      "The connection URL can't be read (it is not shown, since it may contain a password)",
      "Write postgres://user:password@host:5432/database and percent-encode @ : / ? # % in user and password.",
    );
  const [, userinfo = "", netloc = "", database = "", query = ""] = parts;
  const [, user = "", password = ""] = /^([^:]*):?(.*)$/s.exec(userinfo) ?? [];
  if (user !== "") yield ["user", decoded(user)];
  if (password !== "") yield ["password", decoded(password)];
  const hosts = netloc
    .split(",")
    .map((host) => /^(?:\[([^\]]+)\]|((?!\[)[^:]*))(?::(\d*))?$/.exec(host));
  if (hosts.includes(null))
    throw malformed(
      "The host in the connection URL can't be read",
      "Write host:port, and an IPv6 address in brackets: [::1]:5432.",
    );
  const names = hosts.map((host) => decoded(host?.[1] ?? host?.[2] ?? "")).join(",");
  const ports = hosts.map((host) => host?.[3] ?? "").join(",");
  if (names !== "") yield ["host", names];
  if (ports !== "") yield ["port", ports];
  if (database !== "") yield ["dbname", decoded(database)];
  for (const pair of query.split("&").filter(Boolean)) {
    const [, keyword, value] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (keyword === undefined || value === undefined)
      throw malformed("A parameter of the connection URL has no value", "Write ?sslmode=require.");
    yield [decoded(keyword), decoded(value)];
  }
}

function decoded(text: string): string {
  try {
    const value = decodeURIComponent(text.trim());
    if (!value.includes("\0")) return value;
  } catch {}
  throw malformed("A part of the connection URL is badly percent-encoded", "Write % as %25.");
}

function* keywordPairs(text: string): Generator<[string, string]> {
  const pair = /([A-Za-z_]\w*)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(?!')((?:[^\s\\]|\\.|\\$)*))\s*/gsy;
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text);
    if (match === null)
      throw malformed(
        "The connection string can't be read (it is not shown, since it may contain a password)",
        "Write a URL, postgres://user:password@host:5432/database, or host=… user=… dbname=….",
      );
    yield [match[1] ?? "", (match[2] ?? match[3] ?? "").replace(/\\(.?)/gs, "$1")];
  }
}

const homeOf = (env: Environment) => env.HOME ?? homedir();

/** Path of a file in libpq's user directory: `~/.postgresql`, on Windows `%APPDATA%\postgresql`. */
export const userFile = (name: string, env: Environment) =>
  process.platform === "win32"
    ? join(env.APPDATA ?? homedir(), "postgresql", name)
    : join(homeOf(env), ".postgresql", name);

/**
 * The password for a connection in the password file (libpq, "The Password File"): that of the first matching line, where
 * `*` matches anything. Like libpq, ignores a file that other users can read.
 *
 * @param wanted host, port, database and user
 * @returns no password if none matches; `problem` says why a file was ignored.
 */
export function passwordFromFile(
  wanted: readonly string[],
  passfile: string | undefined,
  env: Environment,
): { password?: string; problem?: string } {
  const isWindows = process.platform === "win32";
  const path =
    passfile ?? (isWindows ? userFile("pgpass.conf", env) : join(homeOf(env), ".pgpass"));
  const unused = (why: string) => ({ problem: `The password file ${path} is not used: ${why}` });
  let text: string;
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined) return passfile === undefined ? {} : unused("it does not exist.");
    if (!file.isFile()) return unused("it is not a regular file.");
    if (!isWindows && (file.mode & 0o077) !== 0)
      return unused("other users can read it. Run chmod 600 on it.");
    text = readFileSync(path, "utf8");
  } catch (error) {
    return unused(`it can't be read (${errorCode(error)}).`);
  }
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = [...line.matchAll(/((?:[^:\\]|\\.|\\$)*)(?::|$)/g)].map(([, field = ""]) =>
      field.replace(/\\(.)/g, "$1"),
    );
    const [password] = fields.slice(4);
    if (
      password !== undefined &&
      wanted.every((value, index) => [value, "*"].includes(fields[index] ?? ""))
    )
      return { password };
  }
  return {};
}
