import { userInfo } from "node:os";
import { type Conninfo, fromEnvironment, malformed, parseConninfo } from "./conninfo.ts";
import { fromService, passwordFromFile } from "./files.ts";
import { type Attempt, attemptsOf } from "./tls.ts";

/** An address of a server and how to connect to it. */
export interface Address {
  /** A host name, an IP address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** With or without TLS, in the order to try. */
  readonly attempts: readonly Attempt[];
  /** Empty if none is known; `problem` says why the password file was ignored. */
  password(): { readonly password?: string | undefined; readonly problem?: string };
}

/** libpq's `target_session_attrs`. */
const ATTRIBUTES = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;
export type TargetAttribute = (typeof ATTRIBUTES)[number];

/** A database and how to connect to it. Contains a password: never log or show it. */
export interface Target {
  readonly addresses: readonly Address[];
  readonly user: string;
  readonly database: string;
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
  readonly options: string | undefined;
  readonly directTls: boolean;
  readonly channelBinding: boolean;
  /** The required kind of server; others are skipped. */
  readonly wanted: TargetAttribute;
  /** `user@host:port/database`, for messages. */
  readonly label: string;
}

const STANDARD_TIMEOUT_MS = 10_000;

/**
 * Resolves a connection string as libpq does: the string, then the service, then the environment, then defaults.
 *
 * @throws ToolError `invalid` for what libpq would not take; no message shows a password.
 */
export function targetOf(
  text: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Target {
  const given = text === undefined ? new Map<string, string>() : parseConninfo(text);
  const around = fromEnvironment(env);
  const service = given.get("service") ?? around.get("service");
  const served =
    service === undefined
      ? new Map<string, string>()
      : fromService(service, given.get("servicefile") ?? around.get("servicefile"), env);
  const info: Conninfo = new Map([...around, ...served, ...given]);
  const user = info.get("user") || systemUser();
  const database = info.get("dbname") || user;
  // The address to connect to, and the name that certificates and passwords are looked up by (libpq, "hostaddr").
  const hosts = (info.get("hostaddr") ?? info.get("host") ?? STANDARD_HOST).split(",");
  const names = info.get("host")?.split(",") ?? hosts;
  const ports = (info.get("port") ?? "").split(",");
  if ((ports.length > 1 && ports.length !== hosts.length) || names.length !== hosts.length)
    throw malformed(
      `There are ${names.length} host names, ${hosts.length} addresses and ${ports.length} ports`,
      "Give one port, or one for each host.",
    );
  const wanted = ATTRIBUTES.find((one) => one === (info.get("target_session_attrs") ?? "any"));
  if (wanted === undefined)
    throw malformed("target_session_attrs is unknown", `It is one of ${ATTRIBUTES.join(", ")}.`);
  const passfile = info.get("passfile");
  const addresses = hosts.map((host, index): Address => {
    const port = portOf(ports[index] ?? ports[0] ?? "");
    const isSocket = host.startsWith("/");
    const name = names[index] || host;
    return {
      host: host === "" ? STANDARD_HOST : host,
      port,
      attempts: attemptsOf(info, isSocket, env).map((tls) =>
        tls !== false && name !== host ? { ...tls, servername: name } : tls,
      ),
      password: () =>
        info.has("password")
          ? { password: info.get("password") }
          : passwordFromFile({ host: isSocket ? "localhost" : name, port, user, database }, passfile, env),
    };
  });
  const [first] = addresses;
  const timeout = Number(info.get("connect_timeout") ?? 0);
  return {
    addresses,
    user,
    database,
    // libpq: zero means no limit, and the minimum is two seconds. We always have a limit.
    connectTimeoutMs: timeout > 0 ? Math.max(2, timeout) * 1000 : STANDARD_TIMEOUT_MS,
    applicationName:
      info.get("application_name") ?? info.get("fallback_application_name") ?? "refmcp-server-postgres",
    options: info.get("options"),
    directTls: info.get("sslnegotiation") === "direct",
    channelBinding: info.get("channel_binding") === "require",
    wanted,
    label: `${user}@${first?.host ?? ""}:${first?.port ?? ""}/${database}`,
  };
}

function portOf(text: string): number {
  const port = text === "" ? 5432 : Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw malformed(
    `The port ${JSON.stringify(text.slice(0, 20))} is not valid`,
    "A port is a number from 1 to 65535.",
  );
}

/** libpq's default is a Unix socket in a directory chosen at build time; this is its fallback. */
const STANDARD_HOST = "localhost";

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "postgres";
  }
}
