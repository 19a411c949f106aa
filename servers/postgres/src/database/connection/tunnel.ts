import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { errorCode, startDeadline } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { freePort, isWindows, privateFolder, Supervisor } from "@refmcp/embedded-postgres";
import { closing, failure } from "../errors.ts";
import type { Environment } from "./conninfo.ts";
import type { Address } from "./target.ts";

/** Maximum time to log in, including jump hosts, in milliseconds. */
const LOGIN_MS = 30_000;

/**
 * How ssh runs, whatever the user's configuration says: it never prompts, accepts only known host keys, stays in the
 * foreground as a separate process, and shares nothing with the host. `LocalCommand` runs once the forwarding is
 * established, which its output tells us.
 */
const SETTINGS = [
  ...["BatchMode=yes", "StrictHostKeyChecking=yes", "NoHostAuthenticationForLocalhost=no"],
  ...["ExitOnForwardFailure=yes", "PermitLocalCommand=yes", "LocalCommand=echo ready"],
  ...["ControlMaster=no", "ControlPath=none", "RemoteCommand=none", "GatewayPorts=no"],
  ...[
    "IgnoreUnknown=ForkAfterAuthentication",
    "ForkAfterAuthentication=no",
    "StreamLocalBindMask=0177",
  ],
  ...["ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=3"],
].flatMap((setting) => ["-o", setting]);

/** Forwards the addresses of one database through a host with the user's `ssh -N -L`. */
export class Tunnel {
  readonly #destination: string;
  readonly #addresses: readonly Address[];
  readonly #env: Environment;
  /** The local end for each address: a socket in a private folder, on Windows a port. */
  readonly #ends = new Map<Address, string | number>();
  #running: Promise<() => void> | undefined;
  /** The end of ssh's output, which may say why the host could not reach the database. */
  #said = "";
  #isClosed = false;

  /** @param destination an ssh destination: `user@host`, `ssh://user@host:port`, or a `Host` in its configuration. */
  constructor(destination: string, addresses: readonly Address[], env: Environment) {
    this.#destination = destination;
    this.#addresses = addresses;
    this.#env = env;
  }

  /** ssh's output since it started, in one line. */
  get said(): string {
    return oneLine(this.#said.trim().slice(-300));
  }

  /**
   * Starts ssh unless it is running.
   *
   * @returns stops it
   * @throws ToolError `unavailable` if ssh is missing or can't log in.
   */
  ready(): Promise<() => void> {
    if (this.#isClosed) throw closing();
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#running = undefined;
      throw error;
    });
    return this.#running;
  }

  /** Opens sockets to an address; starts ssh as `ready` does. */
  async socketsTo(address: Address): Promise<() => Socket> {
    await this.ready();
    const end = this.#ends.get(address);
    if (end === undefined) throw new TypeError("not an address of this tunnel");
    return () => (typeof end === "number" ? connect(end, "127.0.0.1") : connect(end));
  }

  async #start(): Promise<() => void> {
    const folder = await privateFolder(undefined);
    for (const [index, address] of this.#addresses.entries())
      this.#ends.set(address, isWindows ? await freePort() : join(folder, String(index)));
    const forwards = [...this.#ends].flatMap(([{ host, port }, end]) => [
      "-L",
      `${isWindows ? "127.0.0.1:" : ""}${end}:${host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : `[${host}]:${port}`}`,
    ]);
    this.#said = "";
    const supervisor = new Supervisor([folder], undefined);
    const ssh = spawn(
      "ssh",
      ["-N", "-T", "-a", "-x", ...SETTINGS, ...forwards, "--", this.#destination],
      {
        env: this.#env,
        stdio: ["ignore", "pipe", "pipe"],
        windowsHide: true,
      },
    );
    const stop = () => {
      ssh.kill();
      supervisor.end();
      rmSync(folder, { recursive: true, force: true });
    };
    ssh.stderr.on("data", (text: Buffer) => {
      this.#said = (this.#said + text.toString("utf8")).slice(-2_000);
    });
    const deadline = startDeadline(LOGIN_MS);
    // Registered now, since either may happen while the helper starts.
    const isReady = Promise.race([
      once(ssh.stdout, "data", { signal: deadline.signal }).then(() => true),
      once(ssh, "close", { signal: deadline.signal }).then(() => false),
    ]);
    isReady.catch(() => undefined);
    try {
      await supervisor.started;
      supervisor.keep(ssh);
      if (!(await isReady)) throw this.#failure(this.said);
    } catch (error) {
      stop();
      if (error instanceof ToolError) throw error;
      if (deadline.signal.aborted)
        throw this.#failure(`ssh did not log in within ${LOGIN_MS / 1000} s.`);
      throw this.#failure(
        errorCode(error) === "ENOENT"
          ? "the program ssh was not found. Install OpenSSH's client, or omit --ssh."
          : oneLine(String(error)),
      );
    } finally {
      deadline.end();
    }
    ssh.once("close", () => {
      stop();
      this.#running = undefined;
    });
    ssh.unref();
    return stop;
  }

  #failure(why: string): ToolError {
    const destination = oneLine(this.#destination);
    return failure("ssh_tunnel", `The SSH tunnel through ${destination} can't be opened: ${why}`, {
      hint: `Make sure that \`ssh ${destination}\` logs in without prompting: its key is in an agent or has no passphrase, and the host's key is in known_hosts.`,
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const stop = await this.#running?.catch(() => undefined);
    stop?.();
  }
}
