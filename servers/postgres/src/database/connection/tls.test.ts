import { execFileSync } from "node:child_process";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openConnection } from "../driver/connection.ts";
import { targetOf } from "./target.ts";

let folder = "";
let secured: TestPostgres;
let plain: TestPostgres;

/** A certificate that is its own authority and holds for "localhost" by name only. */
async function certificate(name: string): Promise<void> {
  const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }], {
    keySize: 2048,
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] },
    ],
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
});
afterAll(async () => {
  await secured?.stop();
  await plain?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Connects and returns whether the connection is encrypted. */
async function encrypted(server: TestPostgres, query: string, host = "127.0.0.1"): Promise<boolean> {
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
    expect(await encrypted(secured, "sslmode=verify-full&sslrootcert=$server.crt", "localhost")).toBe(true);
    const byAddress = "hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=$server.crt";
    expect(await encrypted(secured, byAddress, "localhost")).toBe(true);
    await expect(encrypted(secured, byAddress, "other.test")).rejects.toMatchObject({ kind: "unavailable" });
    await expect(encrypted(secured, "sslmode=verify-full&sslrootcert=$server.crt")).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/certificate that can't be verified/),
    });
  });

  it.each(["sslmode=require", "sslmode=verify-ca", "sslmode=verify-full"])(
    "refuses another authority: %s",
    async (mode) => {
      await expect(encrypted(secured, `${mode}&sslrootcert=$other.crt`, "localhost")).rejects.toMatchObject({
        message: expect.stringMatching(/certificate that can't be verified/),
      });
    },
  );

  it("continues without TLS if the CA does not match and the mode is prefer", async () => {
    expect(await encrypted(secured, "sslmode=prefer&sslrootcert=$other.crt", "localhost")).toBe(false);
  });

  it("with a server without TLS", async () => {
    for (const query of ["", "sslmode=disable", "sslmode=allow", "sslmode=prefer"])
      expect(await encrypted(plain, query)).toBe(false);
    for (const query of ["sslmode=require", "sslmode=verify-full&sslrootcert=$server.crt"])
      await expect(encrypted(plain, query, "localhost")).rejects.toMatchObject({
        message: expect.stringMatching(/does not support TLS/),
      });
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
