import { nearest, ToolError } from "@refmcp/boundary/answer";

/** Connection parameters by libpq's keywords; see PARAMETERS. */
export type Conninfo = ReadonlyMap<string, string>;

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
  PGSERVICEFILE: "servicefile",
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

/** Any of these variables configures a server, even without a URL. */
const NAMES_A_SERVER = ["PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"];

/** The parameters set in the environment. */
export function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Conninfo {
  const found = Object.entries(ENVIRONMENT).flatMap(([variable, keyword]) => {
    const value = env[variable];
    return value === undefined || value === "" ? [] : [[keyword, value] as const];
  });
  return new Map(found);
}

export function namesAServer(env: Readonly<Record<string, string | undefined>>): boolean {
  return NAMES_A_SERVER.some((variable) => (env[variable] ?? "") !== "");
}

/**
 * Parses a connection string in either of libpq's forms ("Connection Strings"): `host=… user=…`, or a `postgres://` URI,
 * also with several hosts and as SQLAlchemy (`postgresql+asyncpg://`) and JDBC (`jdbc:postgresql://`) write it.
 *
 * @throws ToolError `invalid` that says what is wrong without showing the text, which may contain a password.
 */
export function parseConninfo(text: string): Conninfo {
  const uri = /^\s*(?:jdbc:)?postgres(?:ql)?(?:\+\w+)?:(.*)$/is.exec(text)?.[1];
  const pairs = uri === undefined ? keywordPairs(text.trimStart()) : uriPairs(uri.trimEnd());
  const info = new Map<string, string>();
  for (const [keyword, value] of pairs) {
    if (PARAMETERS.has(keyword)) info.set(keyword, value);
    // From JDBC, node-pg and asyncpg; sslmode wins if both are given.
    else if (keyword === "ssl") info.set("sslmode", info.get("sslmode") ?? SSL[value] ?? value);
    else requireNoTypo(keyword);
  }
  return info;
}

const SSL: Readonly<Record<string, string>> = {
  true: "require",
  1: "require",
  false: "disable",
  0: "disable",
};

/** Parameters of libpq, Prisma, Supabase and JDBC that we ignore although they resemble one that we support. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...["sslcompression", "sslsni", "sslaccept", "sslidentity", "sslcrl", "sslcrldir", "require_auth"],
  ...[
    "pool_timeout",
    "socket_timeout",
    "connection_limit",
    "connectTimeout",
    "socketTimeout",
    "ApplicationName",
  ],
]);

/**
 * Unknown parameters are ignored, since other programs keep their own in a URL. One that looks like a typo is refused:
 * `sslmod=require` must not connect without TLS.
 *
 * @throws ToolError `invalid`
 */
function requireNoTypo(keyword: string): void {
  const [near] = ELSEWHERE.has(keyword) ? [] : nearest(keyword, PARAMETERS);
  if (near === undefined) return;
  const shown = JSON.stringify(keyword.slice(0, 40));
  throw malformed(
    `The connection parameter ${shown} is unknown`,
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
  const [, userinfo, netloc = "", database = "", query = ""] = parts;
  if (userinfo !== undefined) {
    const [, user = "", password = ""] = /^([^:]*):?(.*)$/s.exec(userinfo) ?? [];
    if (user !== "") yield ["user", decoded(user)];
    if (password !== "") yield ["password", decoded(password)];
  }
  const hosts = netloc.split(",").map((one) => /^(?:\[([^\]]+)\]|((?!\[)[^:]*))(?::(\d*))?$/.exec(one));
  if (hosts.includes(null))
    throw malformed(
      "The host in the connection URL can't be read",
      "Write host:port, and an IPv6 address in brackets: [::1]:5432.",
    );
  const names = hosts.map((one) => decoded(one?.[1] ?? one?.[2] ?? "")).join(",");
  const ports = hosts.map((one) => one?.[3] ?? "").join(",");
  if (names !== "") yield ["host", names];
  if (ports !== "") yield ["port", ports];
  if (database !== "") yield ["dbname", decoded(database)];
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    if (at === -1)
      throw malformed("A parameter of the connection URL has no value", "Write ?sslmode=require.");
    yield [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))];
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
    const found = pair.exec(text);
    if (found === null)
      throw malformed(
        "The connection string can't be read (it is not shown, since it may contain a password)",
        "Write a URL, postgres://user:password@host:5432/database, or host=… user=… dbname=….",
      );
    yield [found[1] ?? "", (found[2] ?? found[3] ?? "").replace(/\\(.?)/gs, "$1")];
  }
}

export function malformed(what: string, hint: string): ToolError {
  return new ToolError("invalid", `${what}.`, { code: "bad_connection", hint });
}
