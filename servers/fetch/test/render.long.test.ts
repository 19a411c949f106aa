import { createSocket } from "node:dgram";
import { once } from "node:events";
import { candidatesOf } from "@refmcp/boundary/browser";
import { networkGuardOf } from "@refmcp/boundary/forward-proxy";
import { createUrlGuard } from "@refmcp/boundary/url-guard";
import { chromium } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Renderer } from "../src/page/download/browser.ts";
import { failureOf, fetched, HOST, openSite, run, site, texts, webOf } from "./lab.ts";

const AGENT = "refmcp-test";
const never = new AbortController().signal;

/** Why tests that need a browser are skipped. */
let missing: string | undefined;
beforeAll(async () => {
  const home = await openSite({ "/": "<p>here</p>" });
  const renderer = rendererFor([home.host]);
  await renderer
    .render(new URL(home.origin), AGENT, never)
    .catch((error: { code?: string; message: string }) => {
      if (error.code !== "no_browser") throw error;
      missing = error.message;
    });
  await renderer.close();
  await home.close();
});
const withBrowser = (name: string, test: () => Promise<void>): void =>
  it(name, async (context) => {
    if (missing !== undefined) context.skip(missing);
    await test();
  });

function rendererFor(
  allowHosts: readonly string[],
  more: Partial<ConstructorParameters<typeof Renderer>[0]> = {},
) {
  return new Renderer({
    gate: networkGuardOf(createUrlGuard({ allowHosts })),
    totalMs: 60_000,
    chars: 1_000_000,
    ...more,
  });
}

function opened(
  allowHosts: readonly string[],
  more: Partial<ConstructorParameters<typeof Renderer>[0]> = {},
): Renderer {
  const renderer = rendererFor(allowHosts, more);
  onTestFinished(() => renderer.close());
  return renderer;
}

/** A page whose text is written by a script. */
const app = (script: string): string =>
  `<!doctype html><html><head><title>App</title></head><body><div id="app"></div><script>${script}</script></body></html>`;
const WRITES =
  "document.getElementById('app').innerHTML = '<main><h1>The mill</h1><p>' + 'It grinds. '.repeat(40) + '</p></main>'";

describe("with --render", () => {
  withBrowser(
    "a page that is empty without JavaScript is read in a browser, others are not",
    async () => {
      const lab = await site({
        "/app": app(WRITES),
        "/plain": `<p>${"It grinds. ".repeat(40)}</p><script>x()</script>`,
      });
      const web = await webOf([lab], { render: true });
      onTestFinished(() => web.close());
      const { text } = await fetched(web, { url: `${lab.origin}/app` });
      expect(text).toContain("rendered in a browser");
      expect(text).toContain("# The mill\n\nIt grinds.");
      expect(text).not.toContain("needs_javascript");
      expect(lab.requests.at(-1)?.headers["user-agent"]).toContain("ModelContextProtocol/1.0");
      const [facts = ""] = texts(
        await run(web, "fetch", { url: `${lab.origin}/app`, format: "metadata" }),
      );
      expect(JSON.parse(facts)).toMatchObject({ rendered: true, title: "App" });
      await fetched(web, { url: `${lab.origin}/plain` });
      expect(lab.asked.filter((path) => path === "/plain")).toHaveLength(1);
    },
  );

  withBrowser("a page that leads to a blocked address stays unrendered, and says why", async () => {
    const inner = await site({ "/": "<p>SECRET</p>" }, { address: "127.0.0.1" });
    const lab = await site({
      "/script": app(`location.href = "${inner.origin}/"`),
      "/redirect": (request, response) =>
        request.headers.accept?.includes("text/markdown")
          ? response.writeHead(200, { "content-type": "text/html" }).end(app(""))
          : response.writeHead(302, { location: `${inner.origin}/` }).end(),
      "/file": app('location.href = "file:///etc/passwd"'),
    });
    const web = await webOf([{ host: lab.host }], { render: true });
    onTestFinished(() => web.close());
    for (const path of ["/script", "/redirect", "/file"]) {
      const { text } = await fetched(web, { url: lab.origin + path });
      expect(text).not.toMatch(/SECRET|root:/);
      if (path === "/redirect") expect(text).toContain("is a loopback address");
    }
    expect(inner.asked).toEqual([]);
  });

  it("without the package the page is returned unrendered, and the response says what is missing", async () => {
    const renderer = opened([], {
      load: () => Promise.reject(new Error("Cannot find package 'playwright-core'")),
    });
    const failure = await failureOf(renderer.render(new URL("http://mill.example/"), AGENT, never));
    expect(failure).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("needs the package playwright-core"),
      hint: expect.stringContaining("npm install playwright-core"),
    });
  });

  it("and a proxy the server does not start: the browser would bypass it", async () => {
    await expect(
      webOf([], { render: true, proxyUrl: new URL("http://127.0.0.1:1") }),
    ).rejects.toThrow("--render cannot be used with --proxy-url");
  });

  it("is mentioned if a page is empty without JavaScript", async () => {
    const lab = await site({ "/": app(WRITES) });
    expect((await fetched(await webOf([lab]), { url: lab.origin })).text).toContain(
      "start this server with --render",
    );
  });
});

/** Ways in which a page can access the network; `TO` is the target. */
const CHANNELS: Readonly<Record<string, string>> = {
  fetch: "<script>fetch('TO/c', { mode: 'no-cors' }).catch(() => {})</script>",
  image: "<img src='TO/c'>",
  script: "<script src='TO/c'></script>",
  stylesheet: "<link rel='stylesheet' href='TO/c'>",
  iframe: "<iframe src='TO/c'></iframe>",
  websocket: "<script>new WebSocket('TO/c'.replace('http', 'ws'))</script>",
  beacon: "<script>navigator.sendBeacon('TO/c', 'x')</script>",
  "event source": "<script>new EventSource('TO/c')</script>",
  worker:
    "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('TO/c', { mode: 'no-cors' })\"])))</script>",
  popup: "<script>window.open('TO/c')</script>",
  "meta refresh": "<meta http-equiv='refresh' content='0;url=TO/c'>",
};

describe("a page in the browser", () => {
  for (const [name, html] of Object.entries(CHANNELS))
    withBrowser(
      `reaches no address of this machine by ${name}, and would without the guard`,
      async () => {
        const inner = await site({ "/c": "inner" }, { address: "127.0.0.1" });
        const lab = await site({ "/": `<p>here</p>${html.replaceAll("TO", inner.origin)}` });
        const free = opened([lab.host, inner.host]);
        await free.render(new URL(lab.origin), AGENT, never);
        await expect.poll(() => inner.asked.length, { message: name }).toBeGreaterThan(0);
        const before = inner.asked.length;
        await opened([lab.host])
          .render(new URL(lab.origin), AGENT, never)
          .catch(() => undefined);
        expect(inner.asked.length).toBe(before);
      },
    );

  withBrowser("sends nothing by WebRTC", async () => {
    const stun = createSocket("udp4");
    let packets = 0;
    stun.on("message", () => (packets += 1));
    stun.bind(0, "127.0.0.1");
    await once(stun, "listening");
    onTestFinished(() => void stun.close());
    const script = `const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${stun.address().port}" }] });
      peer.createDataChannel("x"); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
      peer.onicegatheringstatechange = () => { document.title = peer.iceGatheringState };`;
    const lab = await site({ "/": app(script) });
    await opened([lab.host]).render(new URL(lab.origin), AGENT, never);
    expect(packets).toBe(0);
    // The same page in a browser that is not guarded.
    const { env, platform } = process;
    const found = await candidatesOf({ executablePath: undefined, env, platform, chromium });
    for (const { program } of found) {
      const browser = await chromium
        .launch({ ...program, chromiumSandbox: process.getuid?.() !== 0 })
        .catch(() => undefined);
      if (browser === undefined) continue;
      const page = await browser.newPage();
      await page.goto(lab.origin);
      await expect.poll(() => packets).toBeGreaterThan(0);
      await browser.close();
      break;
    }
  });

  withBrowser("gains nothing by a name that changes its address", async () => {
    let isMoved = false;
    const outside = await site({
      "/": (_, response) => {
        isMoved = true;
        response.writeHead(200, { "content-type": "text/html", connection: "close" });
        response.end(
          app(
            "fetch('/in').then(() => (document.title = 'reached'), () => (document.title = 'refused'))",
          ),
        );
      },
    });
    const port = Number(new URL(outside.origin).port);
    const inner = await site({ "/in": "inner" }, { address: "127.0.0.3", port });
    const guard = createUrlGuard({ allowHosts: [HOST] }, async () => [
      { address: isMoved ? "127.0.0.3" : HOST, family: 4 },
    ]);
    const { html } = await opened([], { gate: networkGuardOf(guard) }).render(
      new URL(`http://rebind.test:${port}/`),
      AGENT,
      never,
    );
    expect(html).toContain("<title>refused</title>");
    expect(inner.asked).toEqual([]);
  });

  withBrowser("that never rests, is endless or hangs does not hold up the next", async () => {
    const lab = await site({
      "/hangs": app("for (;;) {}"),
      "/endless": app(
        "document.body.append('x'.repeat(3_000_000)); String.prototype.slice = () => 'forged'",
      ),
      "/good": app("document.title = 'good'"),
    });
    const quick = opened([lab.host], { totalMs: 3_000 });
    await expect(quick.render(new URL(`${lab.origin}/hangs`), AGENT, never)).rejects.toMatchObject({
      kind: "timeout",
    });
    const renderer = opened([lab.host]);
    const gone = new AbortController();
    const hanging = renderer.render(new URL(`${lab.origin}/hangs`), AGENT, gone.signal);
    expect((await renderer.render(new URL(`${lab.origin}/good`), AGENT, never)).html).toContain(
      "<title>good</title>",
    );
    gone.abort(new Error("gone"));
    await expect(hanging).rejects.toThrow("gone");
    const endless = await renderer.render(new URL(`${lab.origin}/endless`), AGENT, never);
    expect([endless.html.length, endless.isCut, endless.html.slice(0, 5)]).toEqual([
      1_000_000,
      true,
      "<html",
    ]);
  });
});
