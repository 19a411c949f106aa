import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { type ConnectionOptions, createSecureContext } from "node:tls";
import { errorCode } from "@refmcp/boundary";
import {
  type Conninfo,
  conninfoOf,
  type Environment,
  passwordFromFile,
  userFile,
} from "./conninfo.ts";
import { malformed } from "./errors.ts";

/** One way to connect: without TLS, or with these TLS options. */
export type Attempt = false | ConnectionOptions;

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
const KINDS = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;

/** A database and how to connect to it. Contains a password: never log or show it. */
export interface Target {
  readonly addresses: readonly Address[];
  readonly user: string;
  readonly database: string;
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
  readonly options?: string | undefined;
  readonly directTls: boolean;
  readonly channelBinding: boolean;
  /** The required kind of server; others are skipped. */
  readonly wanted: (typeof KINDS)[number];
  /** `user@host:port/database`, for messages. */
  readonly label: string;
}

export const APPLICATION_NAME = "refmcp-server-postgres";
const STANDARD_TIMEOUT_MS = 10_000;
/** libpq's default is a Unix socket in a directory chosen at build time; this is its fallback. */
const STANDARD_HOST = "localhost";

/**
 * Resolves a connection string as libpq does: the string, then the environment, then defaults.
 *
 * @throws ToolError `invalid` for what libpq would not take; no message shows a password.
 */
export function targetOf(text: string | undefined, env: Environment): Target {
  const info = conninfoOf(text, env);
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
  const wanted = KINDS.find((kind) => kind === (info.get("target_session_attrs") ?? "any"));
  if (wanted === undefined)
    throw malformed("target_session_attrs is unknown", `It is one of ${KINDS.join(", ")}.`);
  const addresses = hosts.map((host, index): Address => {
    const port = portOf(ports[index] ?? ports[0] ?? "");
    const isSocket = host.startsWith("/");
    const name = names[index] || host;
    const wantedPassword = [isSocket ? "localhost" : name, String(port), database, user];
    return {
      host: host === "" ? STANDARD_HOST : host,
      port,
      attempts: attemptsOf(info, isSocket, env).map((tls) =>
        tls !== false && name !== host ? { ...tls, servername: name } : tls,
      ),
      password: () =>
        info.has("password")
          ? { password: info.get("password") }
          : passwordFromFile(wantedPassword, info.get("passfile"), env),
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
      info.get("application_name") ?? info.get("fallback_application_name") ?? APPLICATION_NAME,
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

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "postgres";
  }
}

const MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/**
 * The attempts for an sslmode, in order, as libpq defines it ("SSL Mode Descriptions"): `allow` and `prefer` fall back to
 * the other way, `require` encrypts without verifying the server (with a root certificate file it means `verify-ca`),
 * `verify-ca` verifies the certificate chain, and `verify-full` also the host name.
 *
 * @param isSocket Unix sockets are never encrypted.
 * @throws ToolError `invalid` for an unknown mode or a missing certificate file.
 */
function attemptsOf(info: Conninfo, isSocket: boolean, env: Environment): readonly Attempt[] {
  const isSystem = info.get("sslrootcert") === "system";
  const sslmode = info.get("sslmode") ?? (isSystem ? "verify-full" : "prefer");
  // What node-pg and Heroku call libpq's require.
  const mode = sslmode === "no-verify" ? "require" : sslmode;
  if (!MODES.includes(mode))
    throw malformed(
      `sslmode ${JSON.stringify(mode.slice(0, 40))} is unknown`,
      `It is one of ${MODES.join(", ")}.`,
    );
  if (isSystem && mode !== "verify-full")
    throw malformed(
      `sslmode=${mode} is too weak with sslrootcert=system`,
      "Use sslmode=verify-full.",
    );
  if (isSocket || mode === "disable") return [false];
  const tls = {
    ...clientCertificate(info, env),
    ...(isSystem ? {} : serverVerification(info, mode, env)),
  };
  if (mode === "allow") return [false, tls];
  return mode === "prefer" ? [tls, false] : [tls];
}

function serverVerification(info: Conninfo, mode: string, env: Environment): ConnectionOptions {
  const root = info.get("sslrootcert") ?? userFile("root.crt", env);
  if (!existsSync(root)) {
    if (!mode.startsWith("verify-")) return { rejectUnauthorized: false };
    throw malformed(
      `sslmode=${mode} needs a root certificate, and ${root} does not exist`,
      "Name one with sslrootcert=FILE, or sslrootcert=system with sslmode=verify-full.",
    );
  }
  return {
    ca: certificate(root),
    ...(mode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}

function clientCertificate(info: Conninfo, env: Environment): ConnectionOptions {
  const cert = info.get("sslcert") ?? userFile("postgresql.crt", env);
  if (!existsSync(cert)) {
    if (info.has("sslcert"))
      throw malformed(`The sslcert file ${cert} does not exist`, "Correct the path.");
    return {};
  }
  const passphrase = info.get("sslpassword");
  const mine = {
    cert: certificate(cert),
    key: certificate(info.get("sslkey") ?? userFile("postgresql.key", env)),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
  try {
    createSecureContext(mine);
  } catch (error) {
    throw malformed(
      `The key in sslkey does not belong to the certificate ${cert}, or its passphrase is missing or wrong (${errorCode(error) ?? "unreadable"})`,
      "Check sslcert, sslkey and sslpassword.",
    );
  }
  return mine;
}

function certificate(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw malformed(
      `The certificate or key file ${path} can't be read`,
      "Check the path and its permissions.",
    );
  }
}
