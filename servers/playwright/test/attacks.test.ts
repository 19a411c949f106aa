import { expect, it } from "vitest";
import { NetworkPolicy } from "../src/browser/policy.ts";
import { type Handler, page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester } from "./testers.ts";

const lab = makeTester();
const good = { url: "", assertions: ["h1 is 'Good'"] };

it.each([
  "file:///etc/passwd",
  "view-source:file:///etc/passwd",
  "data:text/html,<h1>x</h1>",
  "chrome://version",
  "javascript:alert(1)",
  "FILE:///etc/passwd",
  " file:///etc/passwd",
  "/etc/passwd",
])(
  "%j is not a web page, and refused before a browser is used, as the URL and as a step",
  async (url) => {
    expect(await lab.failure({ url })).toMatchObject({
      kind: "denied",
      data: { url, passed: false },
    });
    // A step may open a path of the site; anything with a scheme is checked like the URL itself.
    if (!url.includes(":")) return;
    expect((await lab.failure({ url: "http://127.0.0.1:1/", steps: [`goto '${url}'`] })).kind).toBe(
      "invalid",
    );
  },
);

const WAYS: Readonly<Record<string, string>> = {
  "a link": '<a id="go" href="TO">go</a>',
  "an iframe": '<iframe src="TO"></iframe>',
  "a popup": `<button id="go" onclick="window.open('TO')">go</button>`,
  "a script": '<script>setTimeout(() => { location.href = "TO" }, 50)</script>',
  "a meta refresh": '<meta http-equiv="refresh" content="0;url=TO">',
  "a redirect": "",
};
it.concurrent.each(Object.entries(WAYS))(
  "URLs that are not web pages are not reached by %s",
  async (name, html) => {
    const others = [
      "view-source:file:///etc/passwd",
      "chrome://version",
      "data:text/html,root:x:0",
    ];
    const targets = ["file:///etc/passwd", ...(name === "a redirect" ? others : [])];
    const steps = [...(/>go</.test(html) ? ["click #go"] : []), "wait for network idle"];
    const runs = targets.map(async (to) => {
      const { url } = await site({
        "/": (_, response) =>
          name === "a redirect"
            ? response.writeHead(302, { location: to }).end()
            : response
                .writeHead(200, { "content-type": "text/html" })
                .end(page(`<h1>Good</h1>${html.replace("TO", to)}`)),
      });
      const report = await lab
        .run({ url, steps, assertions: ["body does not contain 'root:' within 100ms"] })
        .catch((error: unknown) => error);
      const text = report instanceof Error ? report.message : JSON.stringify(report);
      expect(text, to).not.toContain("root:x:0:0");
      if (!(report instanceof Error))
        expect(report, to).toMatchObject({ assertions: [{ passed: true }] });
    });
    await Promise.all(runs);
  },
);

/** Twelve ways in which a page makes requests to `TO`. */
const CHANNELS: Readonly<Record<string, string>> = {
  fetch: "<script>fetch('TO/c', { mode: 'no-cors' }).catch(() => {})</script>",
  xhr: "<script>const x = new XMLHttpRequest(); x.open('GET', 'TO/c'); x.send()</script>",
  image: "<img src='TO/c'>",
  script: "<script src='TO/c'></script>",
  stylesheet: "<link rel='stylesheet' href='TO/c'>",
  iframe: "<iframe src='TO/c'></iframe>",
  prefetch:
    "<link rel='prefetch' href='TO/c'><link rel='preconnect' href='TO'><link rel='dns-prefetch' href='TO'>",
  websocket: "<script>new WebSocket('TO/c'.replace('http', 'ws'))</script>",
  beacon: "<script>navigator.sendBeacon('TO/c', 'x')</script>",
  "event source": "<script>new EventSource('TO/c')</script>",
  worker:
    "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('TO/c', { mode: 'no-cors' })\"])))</script>",
  popup: "<script>window.open('TO/c')</script>",
};

/** Refuses one host, which nothing else on this machine listens on. */
const fence = makeTester({ policy: new NetworkPolicy({ denyHosts: ["127.0.0.3"] }) });
/** Without rules. */
const plain = makeTester({ policy: new NetworkPolicy({}) });

it("forbidden addresses are reached by none of twelve channels, and by all of them without the policy", async () => {
  const outcomes = await Promise.all(
    Object.entries(CHANNELS).map(async ([name, html]) => {
      const forbidden = await site({ "*": "ok" }, "127.0.0.3");
      const { url } = await site(
        { "/": page(`<h1>Good</h1>${html.replaceAll("TO", forbidden.url)}`) },
        "127.0.0.2",
      );
      // Without the policy the page reaches it; the time it takes limits how long to wait for a leak.
      const reached = new AbortController();
      const free = lab.run({ url, steps: ["wait for 60s"] }, reached.signal).catch(() => undefined);
      await expect.poll(() => forbidden.connections(), { message: name }).toBeGreaterThan(0);
      reached.abort();
      await free;
      const before = forbidden.connections();
      const report = await fence.run({ ...good, url, steps: ["wait for 1s"] });
      return { name, passed: report.passed, leaked: forbidden.connections() - before };
    }),
  );
  expect(outcomes).toEqual(
    Object.keys(CHANNELS).map((name) => ({ name, passed: true, leaked: 0 })),
  );
});

it("forbidden addresses are not reached by a redirect, and the run says so", async () => {
  const forbidden = await site({ "*": "secret" }, "127.0.0.3");
  const { url } = await site({
    "/": (_, response) => void response.writeHead(302, { location: `${forbidden.url}/x` }).end(),
  });
  const message = expect.stringContaining("--deny-host");
  expect(await fence.failure({ url })).toMatchObject({
    kind: "denied",
    code: "refused",
    message,
  });
  expect(forbidden.connections()).toBe(0);
});

it("forbidden addresses are named before the browser goes: private, link-local, the cloud's metadata, in every encoding", async () => {
  const { url } = await site({ "/": page("<h1>Good</h1>") });
  for (const host of ["169.254.169.254", "10.0.0.1", "0xA9.0xFE.0xA9.0xFE", "[::ffff:10.0.0.1]"])
    expect((await plain.failure({ url: `http://${host}/` })).kind, host).toBe("denied");
  expect((await plain.failure({ url, steps: ["goto http://2852039166/"] })).kind).toBe("denied");
});

it("forbidden addresses on this machine are reachable only from local pages", async () => {
  const local = await site({ "*": "internal" }, "127.0.0.3");
  const script = `<script>fetch('${local.url}/c', { mode: 'no-cors' }).catch(() => {})</script>`;
  const { url, port } = await site({ "/": page(`<h1>Good</h1>${script}`) }, "127.0.0.2");
  // The page's name represents a public host: what it resolves to is allowed by its name.
  const resolve = async () => [{ address: "127.0.0.2", family: 4 }];
  const named = new NetworkPolicy({ allowHosts: ["site.test"] }, resolve);
  const away = makeTester({ policy: { guardFor: async () => named.publicGuard() } });
  const report = await away.run({
    ...good,
    url: `http://site.test:${port}/`,
    steps: ["wait for network idle"],
  });
  expect(report.passed).toBe(true);
  expect(local.connections()).toBe(0);
  await plain.run({ url, steps: ["wait for network idle"] });
  expect(local.connections()).toBeGreaterThan(0);
});

it("forbidden addresses are checked at every connection, so DNS rebinding does not help", async () => {
  let isMoved = false;
  const html = page(
    "<script>setTimeout(() => fetch('/in').catch(() => { document.title = 'refused' }), 200)</script>",
  );
  const leave: Handler = (_, response) => {
    isMoved = true;
    response.writeHead(200, { "content-type": "text/html", connection: "close" }).end(html);
  };
  const outside = await site({ "*": leave }, "127.0.0.2");
  const inside = await site({ "*": "inside" }, "127.0.0.3", outside.port);
  const resolve = async () => [{ address: isMoved ? "127.0.0.3" : "127.0.0.2", family: 4 }];
  const policy = new NetworkPolicy({ denyHosts: ["127.0.0.3"] }, resolve);
  const moved = makeTester({ policy });
  const url = `http://rebind.test:${outside.port}/`;
  const error = await moved.failure({ url, assertions: ["title is 'refused' within 20s"] });
  expect(error).toMatchObject({ kind: "denied", message: expect.stringContaining("127.0.0.3") });
  expect(outside.hits).toContain("/");
  expect(inside.connections()).toBe(0);
  // Also if it moves before the page is requested.
  expect((await moved.failure({ url })).kind).toBe("denied");
  expect(inside.connections()).toBe(0);
});
