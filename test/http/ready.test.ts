import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { isLong } from "../../vitest.long.ts";
import { SERVERS, serverBin, serverWorld } from "../servers.ts";

const open: (() => unknown)[] = [];
async function start(
  name: string,
  more: {
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    isAlone?: boolean;
  } = {},
): Promise<HttpProcess> {
  const world = await serverWorld(name);
  open.push(world.dispose);
  const args = [...(more.isAlone === true ? [] : world.args), ...(more.args ?? [])];
  const server = await startHttp(serverBin(name), { args, env: { ...world.env, ...more.env } });
  open.push(() => server.stop("SIGKILL"));
  return server;
}

async function statusOf({ url }: HttpProcess, path: string): Promise<number> {
  const response = await fetch(new URL(path, url));
  await response.text();
  return response.status;
}

type Start = Parameters<typeof start>[1];
/** How each server that depends on something lacks it. */
const UNREADY: [name: string, what: string, more: Start][] = [
  ["filesystem", "a directory that is missing", { args: ["/nonexistent-refmcp"], isAlone: true }],
  ["git", "no git", { env: { PATH: "/nonexistent-refmcp" } }],
  [
    "memory",
    "a database that does not answer",
    { args: ["--store", "postgres://u:p@127.0.0.1:1/x"], isAlone: true },
  ],
  [
    "playwright",
    "a browser that does not start",
    { args: ["--executable-path", "/nonexistent-refmcp"], isAlone: true },
  ],
  [
    "postgres",
    "a database that does not answer",
    { args: ["postgres://u:p@127.0.0.1:1/x"], isAlone: true },
  ],
  [
    "sqlite",
    "a file that is missing",
    { args: ["--db-path", "/nonexistent-refmcp.db"], isAlone: true },
  ],
];

/** One that needs a program, and one that needs a file; the long run has all. */
const servers = isLong ? SERVERS : ["git", "sqlite"];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

describe.each(servers)("%s", (name) => {
  it("is ready", async () => {
    const server = await start(name);
    // Only a busy machine needs a second request: the first one has at most 5 seconds.
    await expect.poll(() => statusOf(server, "/readyz")).toBe(200);
  });
});

describe("a server that could answer no call is alive, but not ready:", () => {
  it.each(UNREADY.filter(([name]) => servers.includes(name)))(
    "%s with %s",
    async (name, _, more) => {
      const server = await start(name, more);
      expect(await statusOf(server, "/healthz")).toBe(200);
      expect(await statusOf(server, "/readyz")).toBe(503);
      expect(server.stderr()).toContain("Calls cannot be served");
    },
  );
});
