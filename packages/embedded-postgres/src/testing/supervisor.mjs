// Keeps one PostgreSQL alive for as long as its parent lives: makes a cluster, runs the server in the foreground, and
// when stdin ends (the parent stopped it or died) stops the server and removes everything. Started by start.ts with
// one argument: JSON of { bin, user?: { uid, gid }, settings? }. Prints "ready URL" or "failed REASON".
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { bin, user, settings: given = {} } = JSON.parse(process.argv[2] ?? "{}");
const folder = mkdtempSync(join(tmpdir(), "refmcp-postgres-"));
const data = join(folder, "data");
const password = randomBytes(18).toString("base64url");
const options = {
  cwd: folder,
  // Not the test's environment: PGDATA, PGHOST and similar could select another server.
  env: { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot, TMPDIR: folder, TZ: "UTC", LC_ALL: "C" },
  ...user,
};
let server;
let port;
let ending = false;

process.stdin.on("end", () => void end(0));
// The one command: stop the server and start it again at the same address.
process.stdin.on("data", () => void restart());
process.stdin.on("error", () => void end(0));
// A terminal's ^C reaches the whole group; the parent decides when this ends.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => void end(0));

try {
  await makeCluster();
  port = await startServer();
  process.stdout.write(`ready postgres://refmcp:${password}@127.0.0.1:${port}/postgres\n`);
} catch (error) {
  process.stdout.write(
    `failed ${String(error instanceof Error ? error.message : error).replaceAll("\n", " | ")}\n`,
  );
  await end(1);
}

async function makeCluster() {
  const secret = join(folder, "password");
  writeFileSync(secret, password, { mode: 0o600 });
  if (user !== undefined) {
    chownSync(folder, user.uid, user.gid);
    chownSync(secret, user.uid, user.gid);
  }
  const args = [
    "-D",
    data,
    "-U",
    "refmcp",
    "--pwfile",
    secret,
    "-A",
    "scram-sha-256",
    "-E",
    "UTF8",
    "--locale=C",
    "-N",
  ];
  const child = spawn(join(bin, "initdb"), args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const output = collect(child);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${output()}`);
}

async function restart() {
  await stopServer();
  await startServer(port);
  process.stdout.write("restarted\n");
}

/** Starts the server on a free port; retries, because another process may take the port first. */
async function startServer(fixedPort) {
  for (let attempt = 1; ; attempt++) {
    const port = fixedPort ?? (await freePort());
    const settings = {
      listen_addresses: "127.0.0.1",
      port,
      unix_socket_directories: "",
      max_connections: 100,
      // Test data need not survive a power failure.
      fsync: "off",
      full_page_writes: "off",
      // A vacuum would change sizes and statistics in the middle of a test, a minute after the start.
      autovacuum_naptime: "1h",
      ...given,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    server = spawn(join(bin, "postgres"), ["-D", data, ...args], {
      ...options,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const output = collect(server);
    const ready = new Promise((resolve) => {
      server.stderr.on("data", () => {
        if (output().includes("ready to accept connections")) resolve(true);
      });
      server.once("close", () => resolve(false));
    });
    if (await ready) return port;
    if (ending || attempt === 5 || !output().includes("Address already in use"))
      throw new Error(`postgres did not start: ${output()}`);
  }
}

async function end(code) {
  if (ending) return;
  ending = true;
  await stopServer();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}

async function stopServer() {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const closed = once(server, "close");
  // Fast shutdown, then an immediate one (PostgreSQL, "Shutting Down the Server").
  server.kill("SIGINT");
  const timer = setTimeout(() => server.kill("SIGQUIT"), 5000);
  await closed;
  clearTimeout(timer);
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

/** The last 4,000 characters of a process's output. */
function collect(child) {
  let text = "";
  const take = (chunk) => {
    text = (text + chunk.toString("utf8")).slice(-4000);
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  return () => text;
}
