import { expect, it } from "vitest";
import { NetworkPolicy } from "../src/browser/policy.ts";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester } from "./testers.ts";

const lab = makeTester();
const policy = new NetworkPolicy({ denyHosts: ["127.0.0.3"] });
/** Behind a real policy. */
const fence = makeTester({ policy, stepMs: 2_000 });
const good = page("<h1>Good</h1>");
const button = (name: string, action: string) => `<button onclick="${action}">${name}</button>`;

it.concurrent("tabs are listed; one that closes itself leaves the next step to the previous one, even if it has what that names", async () => {
  const pay = "document.querySelector('h1').textContent = 'Paid'";
  const { url } = await site({
    "/": page(`<h1>Shop</h1>${button("Sign in", "window.open('/in')")}${button("Next", pay)}
        <script>onkeydown = () => { ${pay} }</script>`),
    "/in": page(`<h1>In</h1>${button("Done", "window.close()")}${button("Next", "1")}
        <script>onkeydown = () => close()</script>`),
  });
  const click = ["click button 'Done'", "click button 'Next'"];
  // A key is not refused by a tab that is closing, but lost: one of several runs shows it.
  const press = ["press x", "press y"];
  const runs = [click, press, press].map(async (last) => {
    const steps = ["click button 'Sign in'", "switch to new tab", ...last];
    return lab.run({ url, steps, assertions: ["h1 is 'Paid'"] });
  });
  const notes = [`tab 2 opened: ${url}/in (closed)`];
  for (const report of await Promise.all(runs))
    expect(report).toMatchObject({ passed: true, notes });
});

it.concurrent("downloads are cancelled if endless, and nothing of them is kept", async () => {
  let sent = 0;
  let isClosed = false;
  const { url } = await site({
    "/": page(`<h1>Good</h1><a href="/x" id="get">get</a><script>setInterval(async () => {
        const answer = await fetch("/closed");
        if ((await answer.text()) === "yes") document.querySelector("h1").textContent = "Closed";
      }, 100)</script>`),
    "/closed": (_, response) => void response.end(isClosed ? "yes" : "no"),
    "/x": (_, response) => {
      response.writeHead(200, { "content-disposition": "attachment; filename=big.bin" });
      const more = () => {
        do sent += 1_000_000;
        while (!response.destroyed && response.write(Buffer.alloc(1_000_000)));
      };
      response.on("drain", more).on("close", () => {
        isClosed = true;
      });
      more();
    },
  });
  const waiting = ["click #get", "wait for h1 is 'Closed' within 60s"];
  const report = await lab.run({
    url,
    steps: [...waiting, "expect download 'big.bin' within 300ms"],
  });
  expect(report).toMatchObject({
    failed_step: expect.stringMatching(/downloads: "big.bin" .*canceled.*20 MiB/),
    artifacts: [],
  });
  expect(sent).toBeGreaterThan(20 * 1024 * 1024);
});

it.concurrent("mocked requests make no other host reachable", async () => {
  const denied = await site({ "*": good }, "127.0.0.3");
  const { url } = await site({
    "/": page(`<h1>Good</h1><iframe title="in" src="${denied.url}/a"></iframe>`),
  });
  const steps = [`mock ${denied.url}/a with '<h2>Mocked</h2><img src=${denied.url}/b>'`];
  const assertions = ["h2 in frame 'in' is 'Mocked'"];
  expect((await fence.run({ url, steps, assertions })).passed).toBe(true);
  expect(denied.connections()).toBe(0);
  const there = [`mock ${denied.url}/** with '<h1>x</h1>'`, `goto ${denied.url}/a`];
  expect((await fence.failure({ url, steps: there })).kind).toBe("denied");
});
