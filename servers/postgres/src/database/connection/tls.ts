import { existsSync, readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { type Conninfo, malformed } from "./conninfo.ts";
import { userFile } from "./files.ts";

/** One way to connect: without TLS, or with these TLS options. */
export type Attempt = false | ConnectionOptions;

type Environment = Readonly<Record<string, string | undefined>>;

const MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
type Mode = (typeof MODES)[number];

/**
 * The attempts for an sslmode, in order, as libpq defines it ("SSL Mode Descriptions"): `allow` and `prefer` fall back to
 * the other way, `require` encrypts without verifying the server (with a root certificate file it means `verify-ca`),
 * `verify-ca` verifies the certificate chain, and `verify-full` also the host name.
 *
 * @param isSocket Unix sockets are never encrypted.
 * @throws ToolError `invalid` for an unknown mode or a missing certificate file.
 */
export function attemptsOf(info: Conninfo, isSocket: boolean, env: Environment): readonly Attempt[] {
  const rootcert = info.get("sslrootcert");
  const mode = modeOf(info.get("sslmode") ?? (rootcert === "system" ? "verify-full" : "prefer"));
  if (rootcert === "system" && mode !== "verify-full")
    throw malformed(`sslmode=${mode} is too weak with sslrootcert=system`, "Use sslmode=verify-full.");
  if (isSocket || mode === "disable") return [false];
  const tls = tlsOptions(info, mode, rootcert, env);
  if (mode === "allow") return [false, tls];
  if (mode === "prefer") return [tls, false];
  return [tls];
}

function modeOf(text: string): Mode {
  // What node-pg and Heroku call libpq's require.
  if (text === "no-verify") return "require";
  const mode = MODES.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw malformed(
    `sslmode ${JSON.stringify(text.slice(0, 40))} is unknown`,
    `It is one of ${MODES.join(", ")}.`,
  );
}

function tlsOptions(
  info: Conninfo,
  mode: Mode,
  rootcert: string | undefined,
  env: Environment,
): ConnectionOptions {
  const client = clientCertificate(info, env);
  if (rootcert === "system") return client;
  const root = rootcert ?? userFile("root.crt", env);
  const verifies = mode === "verify-ca" || mode === "verify-full";
  if (!existsSync(root)) {
    if (verifies)
      throw malformed(
        `sslmode=${mode} needs a root certificate, and ${root} does not exist`,
        "Name one with sslrootcert=FILE, or sslrootcert=system with sslmode=verify-full.",
      );
    return { ...client, rejectUnauthorized: false };
  }
  const ca = certificate(root);
  return mode === "verify-full" ? { ...client, ca } : { ...client, ca, checkServerIdentity: () => undefined };
}

function clientCertificate(info: Conninfo, env: Environment): ConnectionOptions {
  const cert = info.get("sslcert") ?? userFile("postgresql.crt", env);
  const key = info.get("sslkey") ?? userFile("postgresql.key", env);
  if (!existsSync(cert)) {
    if (info.has("sslcert")) throw malformed(`The sslcert file ${cert} does not exist`, "Correct the path.");
    return {};
  }
  const passphrase = info.get("sslpassword");
  return {
    cert: certificate(cert),
    key: certificate(key),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
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
