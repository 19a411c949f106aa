import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "@refmcp/embedded-postgres";
import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { talk, talkToProcess } from "../../../test/session.ts";
import { openConnection } from "../driver/connection.ts";
import { targetOf } from "./target.ts";
import { Tunnel } from "./tunnel.ts";

const PATH = process.env.PATH ?? "";
const find = (program: string) =>
  [...PATH.split(delimiter), "/usr/sbin", "/usr/local/sbin"]
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
const [sshd, ssh, keygen] = [find("sshd"), find("ssh"), find("ssh-keygen")];
const isMissing = process.platform === "win32" || [sshd, ssh, keygen].includes(undefined);

/** Not as root, which needs an account for sshd; as anybody else it lets in that user alone. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534, name: "nobody" } : undefined;

let folder = "";
let database: TestPostgres;
let env: Record<string, string> = {};
let bastion: ReturnType<typeof spawn> | undefined;
let logins = "";
const at = (name: string) => join(folder, name);

/** Starts the host. */
async function startBastion(port: number): Promise<void> {
  const started = spawn(sshd ?? "", ["-D", "-e", "-f", at("sshd_config"), "-p", String(port)], {
    stdio: ["ignore", "ignore", "pipe"],
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  });
  bastion = started;
  await new Promise<void>((resolve, reject) => {
    started.once("exit", () => reject(new Error(`sshd ended: ${logins}`)));
    started.stderr?.on("data", (text: Buffer) => {
      logins += text.toString();
      if (logins.includes("Server listening")) resolve();
    });
  });
}

beforeAll(async () => {
  if (isMissing) return;
  folder = await mkdtemp(join(tmpdir(), "refmcp-ssh-"));
  for (const key of ["host", "other", "id"])
    execFileSync(keygen ?? "", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
  await writeFile(
    at("sshd_config"),
    `ListenAddress 127.0.0.1\nHostKey ${at("host")}\nAuthorizedKeysFile ${at("id.pub")}\nStrictModes no\nUsePAM ${user === undefined ? "no" : "yes"}\nPidFile none\n`,
  );
  const port = await freePort();
  const known = async (key: string) =>
    `[127.0.0.1]:${port} ${(await readFile(at(`${key}.pub`), "utf8")).split(" ").slice(0, 2).join(" ")}\n`;
  await writeFile(at("known"), await known("host"));
  await writeFile(at("wrong"), await known("other"));
  await writeFile(at("empty"), "");
  // A configuration that would let anybody in, and leave ssh behind.
  const host = (name: string, hosts: string) =>
    `Host ${name}\n HostName 127.0.0.1\n Port ${port}\n User ${user?.name ?? userInfo().username}\n IdentityFile ${at("id")}\n IdentitiesOnly yes\n UserKnownHostsFile ${at(hosts)}\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking no\n NoHostAuthenticationForLocalhost yes\n ForkAfterAuthentication yes\n`;
  await writeFile(
    at("config"),
    host("bastion", "known") + host("changed", "wrong") + host("unknown", "empty"),
  );
  // ssh reads the configuration of the home directory that the system names, whatever HOME says.
  await writeFile(
    at("ssh"),
    `#!/bin/sh\necho $$ >> ${at("pids")}\nexec ${ssh} -F ${at("config")} "$@"\n`,
  );
  await chmod(at("ssh"), 0o755);
  if (user !== undefined) for (const name of ["", "host"]) chownSync(at(name), user.uid, user.gid);
  env = { PATH: `${folder}${delimiter}${PATH}` };
  database = await startPostgres();
  await startBastion(port);
});
const tunnels: Tunnel[] = [];
afterEach(async () => {
  for (const tunnel of tunnels.splice(0)) await tunnel.close();
});
afterAll(async () => {
  bastion?.kill();
  await database?.stop();
  if (folder !== "") await rm(folder, { recursive: true, force: true });
});

function through(destination: string, url = database.url, given = env) {
  const target = targetOf(url, {});
  const tunnel = new Tunnel(destination, target.addresses, given);
  tunnels.push(tunnel);
  return { target, tunnel, open: () => openConnection(target, tunnel) };
}

const lastPid = async () => Number((await readFile(at("pids"), "utf8")).trim().split("\n").at(-1));
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("an SSH tunnel", () => {
  it("reports a missing ssh", async () => {
    const { open } = through("bastion", "postgres://u:p@db.internal/d", { PATH: "/nowhere" });
    await expect(open()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(
        /tunnel through bastion can't be opened: the program ssh was not found/,
      ),
    });
  });

  it("refuses a destination that ssh would read as an option", async () => {
    for (const destination of ["-oProxyCommand=touch x", "a b"])
      await expect(talk(["--url", "postgres://u@h/d", "--ssh", destination])).rejects.toThrow();
  });
});

describe("an SSH tunnel through OpenSSH's sshd", () => {
  beforeEach((context) => context.skip(isMissing, "needs OpenSSH's sshd, ssh and ssh-keygen"));

  it("connects and cancels, and starts ssh once for all connections", async () => {
    const before = logins.split("Accepted publickey").length;
    const { open, tunnel } = through("bastion");
    const [one, two] = await Promise.all([open(), open()]);
    expect(await one?.rows("SELECT 1 AS n")).toEqual([{ n: 1 }]);
    // A socket has no address: it is that of the tunnel.
    expect(one?.client.connection.stream).toMatchObject({ remoteAddress: undefined });
    expect(logins.split("Accepted publickey")).toHaveLength(before + 1);
    const controller = new AbortController();
    const sleeping = two?.stoppable(two.run("SELECT pg_sleep(600)"), controller.signal);
    // A cancel that overtakes the statement finds nothing to stop.
    const asleep = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    await expect.poll(() => one?.rows(asleep)).toEqual([{ n: 1 }]);
    controller.abort();
    await expect(sleeping).rejects.toMatchObject({ code: "57014" });
    const pid = await lastPid();
    await tunnel.close();
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it.each(["unknown", "changed"])(
    "refuses a host whose key is %s, whatever the configuration allows",
    async (host) => {
      await expect(through(host).open()).rejects.toMatchObject({
        kind: "unavailable",
        message: expect.stringMatching(/can't be opened: .*Host key verification failed/),
        hint: expect.stringContaining(`\`ssh ${host}\` logs in without prompting`),
      });
    },
  );

  it("reports a database that the host can't reach", async () => {
    const url = new URL(database.url);
    url.port = String(await freePort());
    await expect(through("bastion", url.href).open()).rejects.toMatchObject({
      message: expect.stringMatching(/ssh: .*Connection refused/),
    });
  });

  it("starts ssh again after it ended", async () => {
    const { open } = through("bastion");
    await open();
    const pid = await lastPid();
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isRunning(pid)).toBe(false);
    await expect.poll(async () => (await open()).rows("SELECT 1 AS n")).toEqual([{ n: 1 }]);
    expect(await lastPid()).not.toBe(pid);
  });

  it("ends with the server, even if it is killed", async () => {
    const server = await talkToProcess(
      ["--url", database.url, "--allow-privileged-role", "--ssh", "bastion"],
      { env },
    );
    expect(await server.data("query", { sql: "SELECT 1 AS n" })).toMatchObject({ rows: [[1]] });
    const pid = await lastPid();
    expect(isRunning(pid)).toBe(true);
    process.kill(server.connected.pid ?? 0, "SIGKILL");
    await expect.poll(() => isRunning(pid)).toBe(false);
    await server.close();
  });
});
