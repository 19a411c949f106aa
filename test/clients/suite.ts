import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../conformance/clients.ts";
import { inWorld } from "../conformance/ready.ts";
import { type Fields, fieldsAt } from "../protocol/revisions.ts";
import { INSTALL_MS, useWorld } from "../servers.ts";
import type { ForeignClient } from "./clients.ts";
import { drive, foreignLog, preload, quietEnvironment, recorded } from "./drive.ts";

/** The servers that every client calls. */
export const CALLED: readonly string[] = ["fetch", "filesystem", "memory"];

export interface ClientsOptions {
  /** The servers whose tools a client may read: `CALLED`, and more. */
  readonly servers: readonly string[];
  /** Installs the clients with their drivers, in a folder. */
  install(): Promise<string>;
  /** The argument of a client's driver, which is known after the installation. */
  argumentOf?(client: ForeignClient): Promise<string>;
}

/** The tests of foreign clients, in the suite that calls this. */
export function testClients(
  clients: readonly ForeignClient[],
  { servers, install, argumentOf = async ({ argument }) => argument }: ClientsOptions,
): void {
  const worlds = new Map(servers.map((name) => [name, useWorld(name)]));
  const worldOf = (name: string) => {
    const world = worlds.get(name);
    if (world === undefined) throw new Error(`There is no server ${name}.`);
    return world();
  };

  /** A site whose pages don't end, with the responses by their paths, and the paths whose connection was closed. */
  const pages = new Map<string, ServerResponse>();
  const dropped = new Set<string>();
  const site = createServer(({ url = "" }, response) => {
    if (url === "/robots.txt") return void response.writeHead(404).end();
    pages.set(url, response);
    response.writeHead(200, { "content-type": "text/plain" }).write("The beginning.");
    response.once("close", () => dropped.add(url));
  });
  const siteHost = () => {
    const address = site.address();
    return `127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  };

  /** How a server is started. The fetch server may reach the site, and has no time limit that could pass for a cancellation. */
  function processOf(name: string) {
    const { file, args, env } = inWorld(name, worldOf(name));
    const fetching = ["--allow-host", siteHost(), "--timeout", "300", "--timeout-ms", "300000"];
    return { file, args: name === "fetch" ? [...args, ...fetching] : args, env };
  }

  /** The tools of each server, as the workspace's own client lists them. */
  const tools = new Map<string, Fields[]>();
  /** The servers over HTTP, shared by all clients. */
  const listening = new Map<string, HttpProcess>();
  let place = { folder: "", home: "" };

  beforeAll(async () => {
    place = {
      folder: await install(),
      home: await mkdtemp(join(tmpdir(), "refmcp-clients-")),
    };
    await once(site.listen(0, "127.0.0.1"), "listening");
    for (const server of servers) {
      const peer = await connect("SDK v2 modern", processOf(server));
      tools.set(server, await peer.list("tools"));
      await peer.close();
    }
  }, INSTALL_MS);
  afterAll(async () => {
    for (const [name, server] of listening) expect((await server.stop()).code, name).toBe(0);
    site.closeAllConnections();
    site.close();
    await rm(place.home, { recursive: true, force: true });
  });

  const TITLED = clients.map((client) => [`${client.name} ${client.version}`, client] as const);
  describe.each(TITLED)("%s", (title, client) => {
    let driver: Awaited<ReturnType<typeof drive>>;
    beforeAll(async () => {
      driver = await drive({ ...client, argument: await argumentOf(client) }, place);
    });
    afterAll(() => driver.end());

    describe.each(client.ways)("over %s", (way) => {
      /** Runs `work` on a connection. When the client has closed it, every process that the client started exits with 0. */
      async function at(name: string, work: () => Promise<void>): Promise<void> {
        const log = join(place.home, `${crypto.randomUUID()}.jsonl`);
        const recorder = preload(place.folder, "record.mjs", log);
        if (way === "stdio") {
          const { file, args, env } = processOf(name);
          await driver.connect({
            command: process.execPath,
            args: ["--import", recorder, file, ...args],
            env,
          });
        } else {
          const { file, ...options } = processOf(name);
          const server = listening.get(name) ?? (await startHttp(file, options));
          listening.set(name, server);
          await driver.connect({ url: server.url.href, recorder });
        }
        try {
          await work();
        } finally {
          await driver.close();
        }
        const codes = async () => (await recorded(log)).map(({ code }) => code);
        await expect.poll(codes).not.toContain(undefined);
        const startsProcess = way === "stdio" || client.driver === "bridges";
        expect(new Set(await codes())).toEqual(new Set(startsProcess ? [0] : []));
        // SDK v2 stops its first process, which it only asks for the protocol revision, with a signal.
        if (!client.signals) expect((await recorded(log)).at(-1)?.signals ?? []).toEqual([]);
      }

      /** Every tool of a server, by name. */
      const lists = async (name: string) => {
        const names = tools.get(name)?.map((tool) => tool.name);
        expect(await driver.list()).toEqual(names?.sort());
      };
      /** What a call with an error comes to. */
      const failing = (pattern: RegExp) => {
        const text = expect.stringMatching(pattern);
        return client.error === "a result" ? { value: { isError: true, text } } : { thrown: text };
      };

      it.each(client.everyServer && way === "stdio" ? servers : [])(
        "lists the tools of the %s server and calls the read-only ones",
        async (name) => {
          const reading =
            tools.get(name)?.filter(({ annotations }) => fieldsAt(annotations).readOnlyHint) ?? [];
          expect(reading).not.toEqual([]);
          await at(name, async () => {
            await lists(name);
            for (const { name: tool } of reading) {
              const outcome = await driver.call(
                String(tool),
                worldOf(name).calls[String(tool)] ?? {},
              );
              expect(outcome, String(tool)).toMatchObject({ value: { isError: false } });
            }
          });
        },
      );

      it(`writes and reads a file with the filesystem server, and gets its error as ${client.error}`, async () => {
        const [root = ""] = worldOf("filesystem").args;
        const path = `${title} ${way}.txt`;
        await at("filesystem", async () => {
          await lists("filesystem");
          const written = await driver.call("write_file", {
            path,
            content: "by a foreign client\n",
          });
          expect(written).toMatchObject({ value: { isError: false } });
          expect(await readFile(join(root, path), "utf8")).toBe("by a foreign client\n");
          const read = await driver.call("read_text_file", { path });
          expect(read).toMatchObject({
            value: { text: expect.stringContaining("by a foreign client") },
          });
          const failed = await driver.call("read_text_file", { path: "missing.txt" });
          expect(failed).toMatchObject(failing(/missing\.txt.* does not exist/));
          await lists("filesystem");
        });
      });

      it(`stores an entity in the memory server, finds it with a new connection, and gets an error as ${client.error}`, async () => {
        const name = `${title} ${way}`;
        const entities = [{ name, entityType: "client", observations: ["speaks MCP"] }];
        await at("memory", async () => {
          const created = await driver.call("create_entities", { entities });
          expect(created).toMatchObject({ value: { isError: false } });
        });
        await at("memory", async () => {
          const opened = await driver.call("open_nodes", { names: [name] });
          expect(opened).toMatchObject({ value: { text: expect.stringContaining("speaks MCP") } });
          const failed = await driver.call("open_nodes", { names: ["Nobody"] });
          expect(failed).toMatchObject(failing(/Nobody/));
          await lists("memory");
        });
      });

      const isSilent = client.silent.includes(way);
      const fact = isSilent
        ? "abandons a call without notifying the server, which keeps answering"
        : "cancels a call: the server stops it and keeps answering";
      it(fact, async () => {
        const path = `/${encodeURIComponent(`${title} ${way}`)}`;
        await at("fetch", async () => {
          const call = driver.begin("fetch", { url: `http://${siteHost()}${path}` });
          await expect.poll(() => [...pages.keys()]).toContain(path);
          expect([...dropped]).not.toContain(path);
          await call.cancel();
          expect(await call.outcome).toMatchObject({ thrown: expect.any(String) });
          expect(await driver.list()).toContain("fetch");
          if (isSilent) expect([...dropped]).not.toContain(path);
          else await expect.poll(() => [...dropped]).toContain(path);
          pages.get(path)?.end();
        });
      });
    });
  });

  it("no client connects to another machine, and an attempt would be recorded", async () => {
    const attempts = () => readFile(foreignLog(place.home), "utf8").catch(() => "");
    expect(await attempts()).toBe("");
    const attempt = ["--input-type=module", "--eval", 'await fetch("http://telemetry.invalid/")'];
    const env = quietEnvironment(place);
    await expect(promisify(execFile)(process.execPath, attempt, { env })).rejects.toThrow(
      "telemetry.invalid",
    );
    expect(await attempts()).toBe("telemetry.invalid\n");
  });
}
