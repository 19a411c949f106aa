import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpProcess, startHttp } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENTS, connect } from "../conformance/clients.ts";
import { serverBin } from "../servers.ts";

const FILE = "noise.png";
let folder = "";
let server: HttpProcess;
let image: Buffer;

/** A red pixel, with what viewers ignore after the end of an image. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-image-"));
  image = Buffer.concat([Buffer.from(PIXEL, "base64"), randomBytes(2_050_000)]);
  await writeFile(join(folder, FILE), image);
  server = await startHttp(serverBin("filesystem"), { args: [folder] });
});
afterAll(async () => {
  await server?.stop("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

describe("an image of 2 MB", () => {
  it.each(CLIENTS)("arrives at %s over HTTP, unchanged", async (name) => {
    expect(image.length).toBeGreaterThan(2_000_000);
    const client = await connect(name, server.url);
    const { content } = await client.call("read_media_file", { path: FILE });
    await client.close();
    expect(content).toMatchObject([{ type: "image", mimeType: "image/png" }]);
    const [{ data }] = content as [{ data: string }];
    expect(Buffer.from(data, "base64").equals(image)).toBe(true);
  });

  // The Python SDK refuses a server-sent event of more than 1 MiB.
  it("is answered as JSON, not as an event, if nothing was sent before it", async () => {
    const send = (message: object, headers: Record<string, string>) =>
      fetch(server.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
      });
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const opened = await send({ method: "initialize", params }, {});
    await opened.text();
    const session = {
      "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25",
    };
    const read = { name: "read_media_file", arguments: { path: FILE } };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const modern = {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": read.name,
    };
    const answers = [
      await send({ method: "tools/call", params: read }, session),
      await send({ method: "tools/call", params: { ...read, _meta } }, modern),
    ];
    for (const answer of answers) {
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(await answer.text()).toContain(image.toString("base64"));
    }
  });
});
