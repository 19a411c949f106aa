import { expect, it } from "vitest";
import { page } from "./lab.ts";
import { openedFirst, session, site } from "./session.ts";

const SECRET = "hunter2-browse";
process.env.PW_SECRET_BROWSE = SECRET;
const forbidden = await site({ "*": page("<h1>Secret</h1>") }, "127.0.0.3");
const talk = openedFirst(() =>
  session({
    args: ["--toolsets", "default,browse", "--allow-evaluate", "--deny-host", "127.0.0.3"],
  }),
);
const web = await site({
  "/": page(`<h1>Sign in</h1><label>Password <input type="password"></label><button id="go">Go</button>
    <script>document.querySelector("input").oninput = ({ target }) => { document.title = document.querySelector("button").ariaLabel = target.value; console.warn(target.value) }</script>`),
  "/leads": (_, response) => void response.writeHead(302, { location: forbidden.url }).end(),
  "/spins": page("<h1>Spin</h1><button onclick='while (true) {}'>Spin</button>"),
});

const open = (name: string, path = "/") =>
  talk.good("pw_browse_open", { session: name, url: web.url + path });
const act = (name: string, ...steps: string[]) =>
  talk.call("pw_browse_act", { session: name, steps });
const evaluate = (name: string, expression: string) =>
  talk.call("pw_browse_evaluate", { session: name, expression });
const close = (name: string) => talk.good("pw_browse_close", { session: name });
const FILL = "fill 'Password' with secret 'BROWSE'";

it("browser sessions under attack reach no forbidden host: by step, by code, by redirect or by file URL", async () => {
  await open("net");
  const step = await act("net", `goto ${forbidden.url}`);
  expect(step).toMatchObject({ isError: true, text: expect.stringContaining("127.0.0.3") });
  const fetched = await evaluate("net", `fetch("${forbidden.url}", { mode: "no-cors" })`);
  expect(fetched.text).toContain("Failed to fetch");
  const code = `open("${forbidden.url}"), new Image().src = "${forbidden.url}"`;
  expect((await evaluate("net", code)).isError).toBe(false);
  expect((await act("net", "wait for network idle")).isError, "still open").toBe(false);
  expect((await act("net", "goto /leads")).text).toContain("127.0.0.3");
  expect((await act("net")).text).toContain("The session net is closed: ");
  expect(forbidden.connections()).toBe(0);
  const file = await talk.call("pw_browse_open", { session: "file", url: "file:///etc/passwd" });
  expect(file.text).toContain("not allowed");
  await open("file");
  const led = await evaluate("file", "location.href = 'file:///etc/passwd'");
  expect(led.text).not.toContain("root:");
  expect((await talk.call("pw_browse_act", { session: "file" })).text).not.toContain("root:");
  await close("file");
});

it("browser sessions under attack never return a secret, and run no code after one was used", async () => {
  await open("signed-in");
  expect((await act("signed-in", FILL)).data.title).toBe("[secret BROWSE]");
  const seen = await talk.good("pw_browse_act", { session: "signed-in" });
  expect(seen.data.snapshot).toContain("[secret BROWSE]");
  const read = await act("signed-in", "expect 'Password' has value matches /^h/");
  expect(read.data.failed_step).toContain("secret");
  const args = { steps: ["click #go"], assertions: ["title contains 'h' within 50ms"] };
  const checked = await talk.good("pw_browse_act", { session: "signed-in", ...args });
  const actual = 'the title is "[secret BROWSE]"';
  expect(checked.data.assertions).toMatchObject([{ passed: false, actual }]);
  expect((await evaluate("signed-in", "document.title")).text).toContain("used a secret");
  expect(JSON.stringify(talk.connected.received)).not.toContain(SECRET);
  await close("signed-in");
});

it("browser sessions under attack accept no secret after code ran in them", async () => {
  await open("scripted");
  await evaluate("scripted", "oninput = ({ target }) => document.title = btoa(target.value)");
  expect((await act("scripted", FILL)).text).toContain("evaluated code");
  await close("scripted");
});

it("browser sessions under attack are ended by their own page only: one that spins, one that uses all memory", async () => {
  const hasty = await session({ args: ["--toolsets", "browse", "--timeout-ms", "15000"] });
  await hasty.good("pw_browse_open", { url: `${web.url}/spins` });
  await Promise.all([open("eats"), open("fine")]);
  // Both at once: each takes as long as its limit.
  const spinning = hasty
    .call("pw_browse_act", { steps: ["click button 'Spin'"] })
    .then(() => hasty.call("pw_browse_act"));
  const exhausted = await evaluate("eats", "'x'.repeat(500e6)");
  const stuck = await spinning;
  expect(stuck.isError).toBe(true);
  expect(stuck.text).toMatch(/did not end within|Stopped after|closed/);
  expect(exhausted.isError).toBe(true);
  expect((await act("eats")).text).toMatch(/The page.*(?:crashed|use more than)/);
  expect((await act("fine", "reload")).isError).toBe(false);
  expect((await hasty.call("pw_browse_close")).text).toContain("closed");
  await hasty.good("pw_browse_open", { url: web.url });
}, 120_000);
