import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../../packages/core/test/fixtures/authorization-server.ts";
import { serverBin } from "../servers.ts";
import { APPS } from "./host.ts";

const AUDIENCE = "http://127.0.0.1/mcp";

describe.each(["legacy", "modern"] as const)(
  "the confirmation card over HTTP, for a %s client",
  (era) => {
    let top = "";
    let folder = "";
    let issuer: AuthorizationServer;
    let server: HttpProcess;
    const clients: Client[] = [];
    beforeAll(async () => {
      top = realpathSync(mkdtempSync(join(tmpdir(), "refmcp-apps-")));
      folder = join(top, "folder");
      mkdirSync(folder);
      writeFileSync(join(folder, "a.txt"), "kept\n");
      issuer = await startAuthorizationServer();
      const oauth = ["--oauth-issuer", issuer.issuer, "--oauth-audience", AUDIENCE];
      server = await startHttp(serverBin("filesystem"), {
        // Nothing is kept: so a deletion is permanent, and asks.
        args: ["--journal-days", "0", folder, ...oauth],
      });
    });
    afterAll(async () => {
      for (const client of clients) await client.close();
      await server.stop();
      await issuer.close();
      rmSync(top, { recursive: true, force: true });
    });

    /** A client that shows views, with its own bearer token. */
    async function connect(user: string): Promise<Client> {
      const client = new Client(
        { name: "test-host", version: "1" },
        {
          capabilities: { extensions: { ...APPS } },
          versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
        },
      );
      const authorization = `Bearer ${await issuer.token(user, AUDIENCE)}`;
      const requestInit = { headers: { authorization } };
      await client.connect(new StreamableHTTPClientTransport(server.url, { requestInit }));
      clients.push(client);
      return client;
    }

    it("accepts an answer only from the principal that it was shown to", async () => {
      const [ada, bob] = [await connect("ada"), await connect("bob")];
      const result = await ada.callTool({ name: "delete_file", arguments: { path: "a.txt" } });
      const { token }: { token: string } = Object(result._meta?.["io.github.refmcp/confirmation"]);
      const answer = { name: "filesystem_confirm", arguments: { token, accept: true } };
      expect(await bob.callTool(answer)).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("already answered") }],
      });
      expect(existsSync(join(folder, "a.txt"))).toBe(true);
      // The other principal's attempt did not use it up.
      const own = await ada.callTool(answer);
      expect(own.isError, JSON.stringify(own.content)).not.toBe(true);
      expect(existsSync(join(folder, "a.txt"))).toBe(false);
    });
  },
);
