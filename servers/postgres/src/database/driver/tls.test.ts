import { execFileSync } from "node:child_process";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, TLSSocket } from "node:tls";
import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openConnection } from "../driver/connect.ts";
import { targetOf } from "./target.ts";

let folder = "";
let secured: TestPostgres;
let plain: TestPostgres;
/** Its certificate is from an authority, and it wants one from each client. */
let strict: TestPostgres;

/**
 * A certificate for a name only, not for an address. Without `by` it is its own authority.
 *
 * @param by the name of the authority's files
 */
async function certificate(
  name: string,
  { for: subject = "localhost", by, days = 30 }: { for?: string; by?: string; days?: number } = {},
): Promise<void> {
  const day = 86_400_000;
  const { cert, private: key } = await generate([{ name: "commonName", value: subject }], {
    keySize: 2048,
    algorithm: "sha256",
    notBeforeDate: new Date(Date.now() - 60 * day),
    notAfterDate: new Date(Date.now() + days * day),
    extensions: [
      { name: "basicConstraints", cA: by === undefined },
      { name: "subjectAltName", altNames: [{ type: 2, value: subject }] },
    ],
    ...(by !== undefined && {
      ca: {
        cert: await readFile(join(folder, `${by}.crt`), "utf8"),
        key: await readFile(join(folder, `${by}.key`), "utf8"),
      },
    }),
  });
  await writeFile(join(folder, `${name}.crt`), cert);
  await writeFile(join(folder, `${name}.key`), key, { mode: 0o600 });
}

/** PostgreSQL wants to own its key, and does not run as root. */
async function handOver(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = ["postgres", "nobody"].find((name) => {
    try {
      execFileSync("id", [name], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
  await chown(path, Number(execFileSync("id", ["-u", owner ?? "nobody"])), 0);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-tls-"));
  await certificate("server");
  await certificate("other");
  await handOver(folder);
  await handOver(join(folder, "server.key"));
  const file = (name: string) => join(folder, name);
  secured = await startPostgres({
    settings: { ssl: "on", ssl_cert_file: file("server.crt"), ssl_key_file: file("server.key") },
  });
  plain = await startPostgres({ settings: {} });
  await certificate("authority", { for: "authority" });
  await certificate("signed", { by: "authority" });
  await certificate("client", { for: "refmcp", by: "authority" });
  await certificate("stranger", { for: "refmcp", by: "other" });
  await writeFile(
    file("hba.conf"),
    "hostssl all all 127.0.0.1/32 cert\nhostnossl all all 127.0.0.1/32 scram-sha-256\n",
  );
  for (const name of ["signed.key", "hba.conf"]) await handOver(file(name));
  const tls = (name: string) => ({
    ssl: "on",
    ssl_cert_file: file(`${name}.crt`),
    ssl_key_file: file(`${name}.key`),
  });
  const asking = { ssl_ca_file: file("authority.crt"), hba_file: file("hba.conf") };
  strict = await startPostgres({ settings: { ...tls("signed"), ...asking } });
});
afterAll(async () => {
  await secured?.stop();
  await plain?.stop();
  await strict?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Connects and returns whether the connection is encrypted. */
async function encrypted(
  server: TestPostgres,
  query: string,
  host = "127.0.0.1",
): Promise<boolean> {
  const url = new URL(server.url);
  url.hostname = host;
  url.search = query.replaceAll("$", `${folder}/`);
  // A separate home directory: the machine's ~/.postgresql/root.crt would be used.
  const connection = await openConnection(targetOf(url.href, { HOME: folder }));
  try {
    const [row] = await connection.rows<{ ssl: boolean }>(
      "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
    );
    return row?.ssl === true;
  } finally {
    await connection.close();
  }
}

/** A server behind a proxy. */
async function through(proxy: Server, server: TestPostgres) {
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  const url = new URL(server.url);
  url.port = String(typeof address === "object" ? address?.port : "");
  return { server: { ...server, url: url.href }, close: () => proxy.close() };
}

describe("sslmode as in libpq", () => {
  it.each([
    ["", true],
    ["sslmode=disable", false],
    ["sslmode=allow", false],
    ["sslmode=prefer", true],
    ["sslmode=require", true],
    ["sslmode=require&sslrootcert=$server.crt", true],
    ["sslmode=verify-ca&sslrootcert=$server.crt", true],
  ])("with a server that has TLS, by its address: %s", async (query, expected) => {
    expect(await encrypted(secured, query)).toBe(expected);
  });

  it("checks the host name only with verify-full", async () => {
    expect(
      await encrypted(secured, "sslmode=verify-full&sslrootcert=$server.crt", "localhost"),
    ).toBe(true);
    const byAddress = "hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=$server.crt";
    expect(await encrypted(secured, byAddress, "localhost")).toBe(true);
    const other = encrypted(secured, byAddress, "other.test");
    await expect(other).rejects.toMatchObject({ kind: "unavailable" });
    const byName = encrypted(secured, "sslmode=verify-full&sslrootcert=$server.crt");
    await expect(byName).rejects.toMatchObject({
      message: expect.stringMatching(/certificate for another host name/),
      hint: expect.stringContaining("verify-ca"),
    });
  });

  it.each(["sslmode=require", "sslmode=verify-ca", "sslmode=verify-full"])(
    "refuses another authority: %s",
    async (mode) => {
      const connecting = encrypted(secured, `${mode}&sslrootcert=$other.crt`, "localhost");
      await expect(connecting).rejects.toThrow(/certificate that can't be verified/);
    },
  );

  it("continues without TLS if the CA does not match and the mode is prefer", async () => {
    const query = "sslmode=prefer&sslrootcert=$other.crt";
    expect(await encrypted(secured, query, "localhost")).toBe(false);
  });

  it("does not try again without TLS where a server is of another kind than is wanted", async () => {
    const requests: number[] = [];
    const proxy = createServer((client) => {
      const upstream = connect(Number(new URL(secured.url).port), "127.0.0.1");
      for (const socket of [client, upstream]) socket.on("error", () => undefined);
      client.once("data", (first) => requests.push(first.readInt32BE(4)));
      client.pipe(upstream).pipe(client);
    });
    const { server, close } = await through(proxy, secured);
    const connecting = encrypted(server, "target_session_attrs=standby");
    await expect(connecting).rejects.toThrow(/is standby/);
    close();
    const SSL_REQUEST = 80_877_103;
    expect(requests).toEqual([SSL_REQUEST]);
  });

  it("with a server without TLS", async () => {
    for (const query of ["", "sslmode=disable", "sslmode=allow", "sslmode=prefer"])
      expect(await encrypted(plain, query)).toBe(false);
    for (const query of ["sslmode=require", "sslmode=verify-full&sslrootcert=$server.crt"])
      await expect(encrypted(plain, query, "localhost")).rejects.toThrow(/does not support TLS/);
  });

  it("cancels over TLS", async () => {
    const url = new URL(secured.url);
    url.search = "sslmode=require";
    const connection = await openConnection(targetOf(url.href, { HOME: folder }));
    const watching = await openConnection(targetOf(url.href, { HOME: folder }));
    const controller = new AbortController();
    const work = connection.stoppable(connection.run("SELECT pg_sleep(600)"), controller.signal);
    // A cancel that overtakes the statement finds nothing to stop.
    const asleep = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    await expect.poll(() => watching.rows(asleep)).toEqual([{ n: 1 }]);
    controller.abort();
    await expect(work).rejects.toMatchObject({ code: "57014" });
    await watching.close();
    await connection.close();
  });
});

describe("certificates of an authority", () => {
  it("are accepted from a client", async () => {
    const mine = "sslcert=$client.crt&sslkey=$client.key";
    for (const mode of ["require", "verify-ca", "verify-full", "prefer"]) {
      const query = `${mine}&sslmode=${mode}&sslrootcert=$authority.crt`;
      expect(await encrypted(strict, query, "localhost"), mode).toBe(true);
    }
  });

  it.each([
    ["sslmode=require", /requires a client certificate.*/, /sslcert=FILE/],
    [
      "sslmode=require&sslcert=$stranger.crt&sslkey=$stranger.key",
      /refused the client certificate/,
      /sslcert/,
    ],
  ])("are explained if the client's does not fit: %s", async (query, message, hint) => {
    await expect(encrypted(strict, query)).rejects.toMatchObject({
      kind: expect.stringMatching(/unavailable|invalid/),
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});

describe("channel binding", () => {
  /** Decrypts and encrypts again with its own certificate, as an attacker would. */
  async function interceptor(server: TestPostgres) {
    const [cert, key] = await Promise.all(
      ["crt", "key"].map((end) => readFile(join(folder, `other.${end}`))),
    );
    const request = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
    const proxy = createServer((client) => {
      const upstream = connect(Number(new URL(server.url).port), "127.0.0.1");
      for (const socket of [client, upstream]) socket.on("error", () => undefined);
      upstream.write(request);
      client.once("data", () => {
        upstream.once("data", () => {
          client.write("S");
          const inner = new TLSSocket(client, { isServer: true, cert, key });
          const outer = connectTls({ socket: upstream, rejectUnauthorized: false });
          for (const socket of [inner, outer]) socket.on("error", () => socket.destroy());
          inner.pipe(outer).pipe(inner);
        });
      });
    });
    return await through(proxy, server);
  }

  it("connects through nobody else, who could read everything without it", async () => {
    const { server, close } = await interceptor(secured);
    expect(await encrypted(server, "sslmode=require")).toBe(true);
    const bound = "sslmode=require&channel_binding=require";
    await expect(encrypted(server, bound)).rejects.toMatchObject({ kind: "unavailable" });
    close();
    expect(await encrypted(secured, bound)).toBe(true);
  });
});
