import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  createServer as createTcp,
  getDefaultAutoSelectFamily,
  type Socket,
  setDefaultAutoSelectFamily,
} from "node:net";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { refusal } from "../../test/fixtures/boundary.ts";
import { HttpClient, type HttpClientOptions } from "./http-client.ts";
import { createUrlGuard } from "./url-guard.ts";

const BUDGETS: HttpClientOptions["budgets"] = {
  bytes: 1_000_000,
  headersMs: 2_000,
  totalMs: 4_000,
  redirects: 5,
};

let server: Server;
let base = "";
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
let client: HttpClient;

/** 127.0.0.2 represents a public host. */
const guard = createUrlGuard({ allowHosts: ["127.0.0.2"] });

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
  base = `http://127.0.0.2:${(server.address() as AddressInfo).port}`;
  client = new HttpClient({ guard, budgets: BUDGETS });
});
afterEach(() => {
  client.close();
  server.closeAllConnections();
  server.close();
});

describe("an HTTP client behind a guard", () => {
  it("gets a body with its status, headers and final URL", async () => {
    answer = ({ url }, response) => {
      if (url === "/") response.writeHead(302, { location: "/there?x=1" }).end();
      else response.writeHead(404, { "content-type": "text/plain", "x-one": "1" }).end(`at ${url}`);
    };
    const got = await client.get(base);
    expect(got).toMatchObject({
      status: 404,
      isCut: false,
      headers: { "content-type": "text/plain", "x-one": "1" },
    });
    expect(got.url.href).toBe(`${base}/there?x=1`);
    expect(got.redirects.map(String)).toEqual([`${base}/`]);
    expect(got.body.toString()).toBe("at /there?x=1");
  });

  // Node.js looks up all addresses, or only one with NODE_OPTIONS=--no-network-family-autoselection.
  it.each([true, false])("gets from a host name with family autoselection %s", async (isOn) => {
    const before = getDefaultAutoSelectFamily();
    const named = new HttpClient({
      guard: createUrlGuard({ allowHosts: ["127.0.0.2"] }, async () => [
        { address: "127.0.0.2", family: 4 },
      ]),
      budgets: BUDGETS,
    });
    answer = ({ headers }, response) => void response.end(headers.host);
    try {
      setDefaultAutoSelectFamily(isOn);
      const host = `public.example:${new URL(base).port}`;
      expect((await named.get(`http://${host}/`)).body.toString()).toBe(host);
    } finally {
      setDefaultAutoSelectFamily(before);
      named.close();
    }
  });

  it("connects only to addresses that were checked, also after a redirect", async () => {
    const asked: string[] = [];
    const addresses = ["127.0.0.2", "127.0.0.3"];
    const rebinding = new HttpClient({
      guard: createUrlGuard({ allowHosts: ["127.0.0.2"] }, async (host) => {
        asked.push(host);
        // The first answer is public, the second is not.
        const address = addresses[host === "inside.example" ? 1 : Math.min(asked.length - 1, 1)];
        return [{ address: address ?? "", family: 4 }];
      }),
      budgets: BUDGETS,
    });
    const { port } = new URL(base);
    answer = ({ url }, response) => {
      if (url === "/") response.setHeader("connection", "close").end("public");
      else response.writeHead(302, { location: `http://inside.example:${port}/` }).end();
    };
    const get = (url: string) => rebinding.get(`http://public.example:${port}${url}`);
    expect((await get("/")).body.toString()).toBe("public");
    const refused = async (url: string) => (await refusal(get(url))).message;
    expect(await refused("/")).toContain("resolves to 127.0.0.3, a loopback address");
    asked.splice(0);
    expect(await refused("/away")).toContain('"inside.example" resolves to 127.0.0.3');
    expect(asked).toEqual(["public.example", "inside.example"]);
    rebinding.close();
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
    ["deflate without zlib's header", deflateRawSync],
  ])("decodes %s", async (name, encode) => {
    const [encoding = ""] = name.split(" ");
    answer = (_request, response) =>
      void response
        .writeHead(200, { "content-encoding": encoding })
        .end(encode("hello ".repeat(1_000)));
    expect((await client.get(base)).body.toString()).toBe("hello ".repeat(1_000));
  });

  it("stops a decompression bomb at the limit, for any encoding", async () => {
    const zeros = Buffer.alloc(200_000_000);
    const fast = { level: 1 };
    const gzip = gzipSync(zeros, fast);
    for (const [encoding, body] of [
      ["gzip", gzip],
      ["br", brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
      ["deflate", deflateSync(zeros, fast)],
      ["deflate", deflateRawSync(zeros, fast)],
      ["gzip, gzip", gzipSync(gzip)],
    ] as const) {
      answer = (_request, response) =>
        void response.writeHead(200, { "content-encoding": encoding }).end(body);
      const before = process.memoryUsage().rss;
      const got = await client.get(base);
      expect(got).toMatchObject({ isCut: true });
      expect(got.body.length).toBe(1_000_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    }
    answer = (_request, response) =>
      void response
        .writeHead(200, { "content-encoding": Array(50).fill("gzip").join(", ") })
        .end("x");
    expect((await refusal(client.get(base))).message).toContain("encoded 50 times");
  });

  it("ends an endless body at its byte limit, and a slow one at its time limit", async () => {
    answer = (_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (response.write("x".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    };
    expect(await client.get(base)).toMatchObject({ isCut: true });
    answer = (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("."), 100);
      response.on("close", () => clearInterval(timer));
    };
    expect((await refusal(client.get(base))).kind).toBe("timeout");
    answer = () => undefined;
    expect((await refusal(client.get(base))).message).toContain("sent no headers within 2 s");
  });

  it.each([
    ["the metadata service", "http://169.254.169.254/", "a link-local address"],
    ["a file", "file:///etc/passwd", "file: URLs are not allowed"],
    ["credentials", "http://user:pw@example.org/", "user name or password"],
    ["another host by //", "//127.0.0.3/x", "a loopback address"],
    ["nothing that is a URL", "http://[::x/", "is not a URL"],
  ])("does not follow a redirect to %s", async (_what, location, why) => {
    answer = (_request, response) => void response.writeHead(302, { location }).end();
    expect((await refusal(client.get(base))).message).toContain(why);
  });

  it("follows five redirects, but not a sixth", async () => {
    answer = ({ url = "" }, response) => {
      const remaining = Number(url.slice(1));
      if (remaining === 0) response.end("there");
      else response.writeHead(307, { location: `/${remaining - 1}` }).end();
    };
    expect((await client.get(`${base}/5`)).redirects).toHaveLength(5);
    expect((await refusal(client.get(`${base}/6`))).message).toContain(
      "redirects more than 5 times",
    );
  });

  it("sends configured headers to their host only", async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer(({ headers }, response) => {
      seen.push(String(headers["x-key"]));
      response.end("other");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.2", resolve));
    const { port } = other.address() as AddressInfo;
    const own = new HttpClient({
      guard,
      budgets: BUDGETS,
      headersFor: ({ host }) => (base.endsWith(host) ? { "x-key": "secret" } : {}),
    });
    answer = ({ headers }, response) => {
      seen.push(String(headers["x-key"]));
      response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end();
    };
    await own.get(base);
    expect(seen).toEqual(["secret", "undefined"]);
    own.close();
    other.closeAllConnections();
    other.close();
  });

  it("stops at once when it is cancelled", async () => {
    answer = () => undefined;
    const controller = new AbortController();
    const getting = client.get(base, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(getting).rejects.toThrow("enough");
  });

  /** Answers each connection with bytes; returns the URL. */
  async function raw(onData: (socket: Socket) => void): Promise<string> {
    const tcp = createTcp((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", () => onData(socket));
    });
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.2", resolve));
    onTestFinished(() => void tcp.close());
    return `http://127.0.0.2:${(tcp.address() as AddressInfo).port}/`;
  }

  const OK = "HTTP/1.1 200 OK\r\n";
  it.each([
    ["headers are larger", `${OK}x: ${"y".repeat(60_000)}\r\n\r\n`],
    ["could not be read", `${OK}transfer-encoding: chunked\r\n\r\nzz\r\nhello`],
    ["its HTTP response is invalid", "hello there\r\n\r\n"],
    ["is damaged", `${OK}content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello`],
  ])("explains that an answer %s", async (why, bytes) => {
    const url = await raw((socket) => void socket.end(bytes));
    expect((await refusal(client.get(url))).message).toContain(why);
  });

  it("retries once if a kept connection was just closed", async () => {
    let calls = 0;
    const url = await raw((socket) => {
      calls += 1;
      if (calls === 1) socket.resetAndDestroy();
      else socket.end(`${OK}content-length: 2\r\nconnection: close\r\n\r\nok`);
    });
    expect((await client.get(url)).body.toString()).toBe("ok");
    expect(calls).toBe(2);
  });
});
