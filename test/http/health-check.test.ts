import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type HttpProcess, untilListening } from "@refmcp/testing";
import { DockerfileParser } from "dockerfile-ast";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { ROOT, serverBin, serverFolder } from "../servers.ts";

const execute = promisify(execFile);
/** Made for a host name that the check does not use. */
const { generate } = createRequire(join(ROOT, "packages", "core", "package.json"))("selfsigned");
let folder = "";
let check: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-health-"));
  const pems = await generate([{ name: "commonName", value: "mcp.example.com" }]);
  await writeFile(join(folder, "cert.pem"), pems.cert);
  await writeFile(join(folder, "key.pem"), pems.private);
  const file = DockerfileParser.parse(
    await readFile(join(serverFolder("memory"), "Dockerfile"), "utf8"),
  );
  const found = file.getInstructions().find((one) => one.getKeyword() === "HEALTHCHECK");
  check = JSON.parse(found?.getArgumentsContent()?.replace(/^CMD /, "") ?? "[]").slice(1);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the server with this environment alone, and waits until it listens. */
async function start(env: Readonly<Record<string, string>>): Promise<HttpProcess> {
  const args = [serverBin("memory"), "--file", join(folder, "memory.db")];
  const server = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  return untilListening(server);
}

const health = (env: Readonly<Record<string, string>>) =>
  execute(process.execPath, check, { env }).then(
    () => "healthy",
    ({ code }: { code: number }) => `unhealthy, exit code ${code}`,
  );

it.each([
  ["a port", (port: string) => port, {}],
  ["an IPv4 address", (port: string) => `127.0.0.1:${port}`, {}],
  ["an IPv6 address", (port: string) => `[::1]:${port}`, {}],
  ["a name", (port: string) => `localhost:${port}`, {}],
  ["a Unix socket", () => `unix:${join(folder, "socket")}`, {}],
  [
    "HTTPS",
    (port: string) => port,
    { REFMCP_MEMORY_TLS_CERT: "cert.pem", REFMCP_MEMORY_TLS_KEY: "key.pem" },
  ],
] as const)("the image's health check finds a server on %s", async (_, addressOf, tls) => {
  const paths = Object.fromEntries(
    Object.entries(tls).map(([name, file]) => [name, join(folder, file)]),
  );
  const server = await start({
    ...paths,
    REFMCP_MEMORY_HTTP: addressOf("0"),
    REFMCP_MEMORY_DRAIN_MS: "0",
  });
  const at = { ...paths, REFMCP_MEMORY_HTTP: addressOf(server.url.port) };
  expect(await health(at)).toBe("healthy");
  await server.stop();
  expect(await health(at)).toBe("unhealthy, exit code 1");
});

it("the image's health check needs no server over stdio", async () => {
  expect(await health({})).toBe("healthy");
});
