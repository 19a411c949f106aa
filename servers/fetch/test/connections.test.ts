import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { expect, it, onTestFinished } from "vitest";
import { failureOf, fetched, HOST, run, site, webOf } from "./lab.ts";

/** A name that only the proxy knows. */
const NAME = "secure.test";

async function certificate() {
  const altNames = [
    { type: 7 as const, ip: HOST },
    { type: 2 as const, value: NAME },
  ];
  const pair = await generate([{ name: "commonName", value: HOST }], {
    keySize: 2_048,
    extensions: [{ name: "subjectAltName", altNames }],
  });
  const folder = await mkdtemp(join(tmpdir(), "refmcp-fetch-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "ca.pem");
  await writeFile(file, `# the office's own\n${pair.cert}`);
  return { key: pair.private, cert: pair.cert, file, folder };
}

it("an unknown certificate is refused, and trusted with --ca-file", async () => {
  const { key, cert, file, folder } = await certificate();
  const lab = await site({ "/": "<p>secure</p>" }, { tls: { key, cert } });
  expect(await failureOf(run(await webOf([lab]), "fetch", { url: lab.origin }))).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("certificate is not trusted"),
  });
  expect((await fetched(await webOf([lab], { caFile: file }), { url: lab.origin })).text).toContain(
    "secure",
  );
  await writeFile(join(folder, "empty.pem"), "nothing");
  await expect(webOf([lab], { caFile: join(folder, "empty.pem") })).rejects.toThrow(
    "cannot be read or has no certificate",
  );
});

it("a configured header is sent only to its host", async () => {
  const stranger = await site({ "/": "<p>elsewhere</p>" }, { address: "127.0.0.1" });
  const lab = await site({
    "/": "<p>in</p>",
    "/away": { status: 302, headers: { location: `${stranger.origin}/` } },
  });
  const opened = await webOf([lab, stranger], {
    header: [
      { name: `http://${lab.host}`, value: "Authorization: Bearer t0ken" },
      { name: `http://${lab.host}`, value: "X-Team: blue" },
    ],
  });
  await fetched(opened, { url: lab.origin });
  await fetched(opened, { url: `${lab.origin}/away` });
  expect(lab.requests.at(-1)?.headers).toMatchObject({
    authorization: "Bearer t0ken",
    "x-team": "blue",
  });
  for (const { headers } of stranger.requests) expect(headers).not.toHaveProperty("authorization");
  expect(stranger.requests).not.toHaveLength(0);
});

it("a configured header is sent unencrypted only to a host given with http://", async () => {
  const { key, cert, file } = await certificate();
  const plain = await site({ "/": "<p>plain</p>" });
  const secure = await site({ "/": "<p>secure</p>" }, { tls: { key, cert } });
  const opened = await webOf([plain, secure], {
    caFile: file,
    header: [{ name: HOST, value: "Authorization: Bearer t0ken" }],
  });
  await fetched(opened, { url: plain.origin });
  await fetched(opened, { url: secure.origin });
  expect(plain.requests).not.toHaveLength(0);
  for (const { headers } of plain.requests) expect(headers).not.toHaveProperty("authorization");
  expect(secure.requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer t0ken" });
});

/** A typical office HTTP proxy, until the test ends. */
async function proxy() {
  const seen: string[] = [];
  const server = createServer((asked, answer) => {
    seen.push(`${asked.method} ${asked.url}`);
    const onward = request(
      asked.url ?? "",
      { method: "GET", headers: asked.headers },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    onward.on("error", () => answer.writeHead(502).end());
    onward.end();
  });
  server.on("connect", (asked, socket) => {
    seen.push(`CONNECT ${asked.url}`);
    const [host = "", port = ""] = (asked.url ?? "").split(":");
    const onward = connect(Number(port), host === NAME ? HOST : host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = server.address();
  if (place === null || typeof place === "string") throw new Error("the proxy has no port");
  return { url: new URL(`http://127.0.0.1:${place.port}`), seen };
}

it("all requests use --proxy-url, and are checked first", async () => {
  const { key, cert, file } = await certificate();
  const plain = await site({ "/": "<p>plain</p>" });
  const secure = await site({ "/": "<p>secure</p>" }, { tls: { key, cert } });
  const through = await proxy();
  const opened = await webOf([plain, secure], { proxyUrl: through.url, caFile: file });
  expect((await fetched(opened, { url: plain.origin })).text).toContain("plain");
  const named = secure.host.replace(HOST, NAME);
  expect((await fetched(opened, { url: `https://${named}/` })).text).toContain("secure");
  expect([...new Set(through.seen)]).toEqual([
    `GET ${plain.origin}/robots.txt`,
    `GET ${plain.origin}/`,
    `CONNECT ${named}`,
  ]);
  for (const url of ["http://127.0.0.1:9/", "http://localhost:9/", "http://169.254.169.254/"])
    expect(await failureOf(run(opened, "fetch", { url }))).toMatchObject({ kind: "denied" });
  expect([...new Set(through.seen)]).toHaveLength(3);
});
