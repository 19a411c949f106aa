import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "@refmcp/embedded-postgres";
import { aptInstall } from "../../../scripts/lib/apt.mjs";

/** The program, installed by apt if it is missing and apt may be used; `missing` is the reason if there is none. */
export async function findPgbouncer(): Promise<{ program: string } | { missing: string }> {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const find = () =>
    [...folders, "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"]
      .map((folder) => join(folder, "pgbouncer"))
      .find((path) => existsSync(path));
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const reason = find() === undefined && (await aptInstall(["pgbouncer"], { say }));
  const program = find();
  return program === undefined ? { missing: `There is no PgBouncer: ${reason}` } : { program };
}

export interface Bouncer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A PgBouncer in transaction mode with a few connections to the database of `url`. */
export async function startPgbouncer(
  program: string,
  url: string,
  connections = 2,
): Promise<Bouncer> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-pgbouncer-"));
  const { hostname, port, username, password, pathname } = new URL(url);
  const listening = await freePort();
  await writeFile(join(folder, "users.txt"), `"${username}" "${password}"\n`);
  await writeFile(
    join(folder, "bouncer.ini"),
    [
      "[databases]",
      `* = host=${hostname} port=${port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${listening}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      `auth_file = ${join(folder, "users.txt")}`,
      "pool_mode = transaction",
      `default_pool_size = ${connections}`,
    ].join("\n"),
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? idsOf("nobody") : undefined;
  if (user !== undefined)
    for (const name of ["", "users.txt", "bouncer.ini"])
      chownSync(join(folder, name), user.uid, user.gid);
  const child = spawn(program, ["-q", join(folder, "bouncer.ini")], { stdio: "ignore", ...user });
  const bounced = new URL(url);
  bounced.port = String(listening);
  bounced.pathname = pathname;
  await reachable(listening);
  return {
    url: bounced.href,
    async stop() {
      const gone = once(child, "close");
      child.kill("SIGKILL");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function idsOf(name: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, name]));
  return { uid: id("-u"), gid: id("-g") };
}

async function reachable(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect(port, "127.0.0.1");
    const isThere = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await wait(100);
  }
  throw new Error("pgbouncer did not start");
}
