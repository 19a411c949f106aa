import { expect, it } from "vitest";
import { isLong } from "../../../../../vitest.long.ts";
import { page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { makeTester } from "../../../test/testers.ts";

/** Keeps the page's thread busy, like a large application that starts. */
const block = (milliseconds: number) =>
  `for (const until = performance.now() + ${milliseconds}; performance.now() < until; );`;

/** Blocks the thread after the load event; a timer that is set before fails when the thread is free again. */
const BUSY = `
  const later = setTimeout;
  addEventListener("load", () => later(() => {
    later(() => { console.error("too late"); throw new Error("late"); }, 60);
    ${block(400)}
  }));`;
/** Replaces everything that could be used to wait. */
const PATCHED = `
  window.setTimeout = window.requestAnimationFrame = window.requestIdleCallback = (done) => done();
  window.matchMedia = () => ({ matches: true });
  Promise.prototype.then = function () { return this; };
  window.Promise = class { constructor(begin) { begin(() => {}, () => {}); } };
  Object.defineProperty(document, "title", { get: () => "Patched" });`;

/** Is idle after its load event, but for what comes late from a worker, which no page clock shows. */
const WORKER = `
  const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = () => setTimeout(() => postMessage(0), 60)"])));
  worker.onmessage = () => { console.error("too late"); throw new Error("late"); };
  addEventListener("load", () => worker.postMessage(0));`;

const script = (text: string) => page(`<h1>Good</h1><script>${text}</script>`);

const lab = makeTester();

const assertions = ["no page errors", "no console errors"];
const failed = [
  {
    name: "no page errors",
    passed: false,
    actual: expect.stringMatching(/^1 page error, the first: "Error: late at .*http/),
  },
  {
    name: "no console errors",
    passed: false,
    actual: expect.stringMatching(
      /^2 console errors, the first: "uncaught Error: late .*, then "too late \(http.*:\d+\)"$/,
    ),
  },
];

it.concurrent.each([
  ["that is idle until a worker's message", script(WORKER)],
  ["that replaced the functions to wait with", script(BUSY + PATCHED)],
  ["in a frame", page("<h1>Good</h1><iframe src='/busy'></iframe>")],
])("a page whose thread is busy after loading, %s does not pass", async (_, body) => {
  const { url } = await site({ "/": body, "/busy": script(BUSY) });
  expect((await lab.run({ url, assertions })).assertions).toEqual(failed);
});

it("a request that stays open does not keep the network busy", async () => {
  const { url } = await site({
    "/": script("new EventSource('/open'); fetch('/poll')"),
    "/open": (_request, response) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n"),
    "/poll": () => undefined,
  });
  const report = await lab.run({
    url,
    steps: ["wait for network idle", "expect no console errors"],
  });
  expect(report.failed_step).toBeUndefined();
});

it("a frame whose document is blocked, or never arrives, holds up no verdict", async () => {
  const never = isLong ? "<iframe src='/never'></iframe>" : "";
  const { url } = await site({
    "/": page(`<h1>Good</h1><iframe src="file:///x"></iframe>${never}`),
    "/never": () => undefined,
  });
  const assertions = ["no console errors", "no broken images", "no a11y violations in h1"];
  const all = await lab.run({ url, assertions, timeoutMs: 60_000 });
  expect(all.assertions.map(({ passed }) => passed)).toEqual([false, true, true]);
});

it("a page with scripts disabled gets no errors from our timers", async () => {
  const { url } = await site({
    "/": (_, response) =>
      void response
        .writeHead(200, { "content-type": "text/html", "content-security-policy": "sandbox" })
        .end(page("<h1>Good</h1><iframe sandbox srcdoc='<p>Inside</p>'></iframe>")),
  });
  expect((await lab.run({ url, assertions: ["no console errors"] })).passed).toBe(true);
});
