import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import { page } from "./lab.ts";
import { openedFirst, session, site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";

// What a model could try to get a secret out of a page that shows it everywhere. Letter games are not on the list: the
// README says that a page which shows them one by one can reveal it.

const KEY = "hunter22Zq";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const FORMS = [
  KEY,
  encodeURIComponent(KEY),
  Buffer.from(KEY).toString("hex"),
  ...["", "a", "ab"].map((before) => base64(before + KEY).slice(before === "" ? 0 : 4, -4)),
];

/** Shows the value of its field in many ways. */
const MIRRORS = page(
  `<main><h1>Sign in</h1><label>Token <input id="t"></label> <label>Other <input id="o"></label>
  <p id="m"></p><div id="d">x</div><svg width="300" height="30"><text id="s" y="20"></text></svg>
  <iframe title="Inner" srcdoc="<label>Pin <input></label>"></iframe><iframe src="file:///blocked"></iframe>
  <button onclick="alert('it is ' + t.value)">Ask</button><button onclick="throw new Error('bad ' + t.value)">Throw</button>
  <button onclick="const c = t.cloneNode(); c.value = t.value; t.replaceWith(c)">Replace</button>
  <a id="dl" download="x.txt" href="data:,x">Save</a></main>
  <script>t.oninput = () => {
    const { value } = t;
    m.textContent = value + " shown"; s.textContent = value; o.value = value;
    d.title = d.className = value; d.setAttribute("aria-label", value);
    document.cookie = "v=" + value; localStorage.v = value; document.title = "x".repeat(198) + value;
    dl.download = value + ".txt"; dl.href = "data:text/plain," + value;
    console.log("x".repeat(995) + value); history.replaceState(0, "", "/?q=" + value);
    fetch("/api?q=" + value, { method: "POST", body: JSON.stringify({ token: value }),
      headers: { authorization: "Basic " + btoa("ada:" + value) } });
  }</script>`,
  "<style>* { font: 20px monospace } input, p, div { display: block; width: 300px; height: 30px }</style>",
);

const web = await site({
  "/": MIRRORS,
  "/api": (request, response) => {
    response.setHeader("x-echo", request.url ?? "");
    request.pipe(response);
  },
});
const lab = makeTester({ secrets: new Secrets([["KEY", KEY]]) });

const WRITE = "fill 'Token' with secret 'KEY'";
const look = { limit: 40, budget: 8_000 };

type Evidence = Parameters<TestTester["run"]>[0]["evidence"];

async function run(
  steps: readonly string[],
  assertions: readonly string[] = [],
  evidence: Evidence = [],
) {
  const report = await lab.run({
    url: web.url,
    steps: [WRITE, ...steps, "wait for network idle"],
    assertions: assertions.map((assertion) => `${assertion} within 50ms`),
    ...{ look, evidence },
  });
  const files = await Promise.all((report.artifacts ?? []).map(({ path }) => readFile(path)));
  return { report, text: JSON.stringify(report) + files.map(String).join("\n"), files };
}

const expectNone = (text: string) => {
  for (const form of FORMS) expect(text).not.toContain(form);
};

it("a secret that a page shows everywhere is in no answer and no artifact", async () => {
  const { report, text } = await run(
    ["click button 'Ask'", "click button 'Throw'"],
    ["h1 is 'x'"],
    ["full_page", "har", "trace"],
  );
  expectNone(text);
  expect(report.failed_step).toBeUndefined();
  expect(report.seen?.snapshot).toContain("Sign in");
  expect(report.artifacts?.map(({ name }) => name).join()).not.toMatch(/zip|webm/);
  expect(report.notes?.join()).toContain("no trace: the run uses a secret");
});

it("a secret that a page shows everywhere is covered in pictures: the field, copies of it, texts, SVG", async () => {
  const shots = ["text' of #m", "drawing' of svg", "copy' of #o"];
  const steps = shots.map((shot) => `screenshot '${shot}`);
  const { report } = await run(steps, [], ["screenshot"]);
  for (const name of ["text", "drawing", "copy"]) {
    const shot = report.artifacts?.find((artifact) => artifact.name.endsWith(`-${name}.png`));
    const { data } = PNG.sync.read(await readFile(shot?.path ?? ""));
    // The color of Playwright's masks.
    expect(data.includes(Buffer.from("ff00ffff", "hex")), name).toBe(true);
  }
});

it("a secret that a page shows everywhere is not compared by any check", async () => {
  const checks = [
    "'Token' has value contains 'hunter'",
    "'Token' has value does not contain 'x'",
    "#t has value matches /^h/",
    "'Other' has value contains 'hunter'",
    "#m contains 'hunter'",
    "#m matches /^h/",
    "#s contains 'h'",
    "#d has class contains 'hunter'",
    "#d has attribute 'title' contains 'h'",
    "title contains 'hunter'",
    "url contains 'hunter'",
  ];
  const { report, text } = await run([], checks);
  expect(report.assertions.map(({ passed }) => passed)).toEqual(checks.map(() => false));
  const line = await run(["expect(page.getByLabel('Token')).toHaveValue(/^h/)"]);
  expect(line.report.failed_step).toContain("not read");
  expectNone(text + line.text);
});

it.concurrent.each([
  ["press Backspace on 'Token'"],
  ["type 'x' into 'Token'"],
  ["click 'Token'", "press Backspace"],
  ["press Control+C on 'Token'"],
  ["click button 'Replace'", "press Backspace on 'Token'"],
])("a secret that a page shows everywhere is not edited or copied by %s", async (...steps) => {
  const { report, text } = await run(steps.filter((step) => typeof step === "string"));
  expect(report.failed_step).toContain("the field holds a secret");
  expectNone(text);
});

it("a secret that a page shows everywhere is not read after the page replaced the field, nor in a frame", async () => {
  const replaced = await run(["click button 'Replace'"], ["'Token' has value contains 'h'"]);
  expect(replaced.report.assertions[0]?.passed).toBe(false);
  const framed = await run(
    ["fill 'Pin' in frame 'Inner' with secret 'KEY'"],
    ["'Pin' in frame 'Inner' has value contains 'h'"],
  );
  expect(framed.report.assertions[0]?.passed).toBe(false);
  expectNone(replaced.text + framed.text);
});

it("a secret that a page shows everywhere never meets the model's own code: mocks of pages and scripts, recordings", async () => {
  const script =
    "mock / with '<input id=t aria-label=Token oninput=\"document.title = this.value.split().join()\">'";
  await expect(lab.run({ url: web.url, steps: [script, WRITE] })).rejects.toThrow();
  const har = join(lab.folder, "code.har");
  await writeFile(har, '{"log":{"entries":[]}}');
  const { failed_step } = await lab.run({ url: web.url, steps: [`use har '${har}'`, WRITE] });
  expect(failed_step).toContain("the run uses a secret");
});

process.env.PW_SECRET_KEY = KEY;
const talk = openedFirst(() => session({ args: ["--toolsets", "all", "--allow-evaluate"] }));
const call = async (tool: string, args: Record<string, unknown>) => {
  const answer = await talk.call(tool, args);
  expectNone(answer.text + JSON.stringify([answer.data, answer.links]));
  return answer;
};

it("no other tool returns a secret of a run: its report, its artifacts, its spec, an inspection that repeats it, a comparison", async () => {
  const args = { url: web.url, steps: [WRITE, "wait for network idle"] };
  const { data } = await call("pw_run_test", { ...args, evidence: ["har"] });
  const { run_id } = data;
  for (const name of ["report.json", "home.har"])
    expect((await call("pw_view_artifact", { run_id, name })).isError).toBe(false);
  expect((await call("pw_export_spec", { run_id })).text).toContain("process.env.PW_SECRET_KEY");
  expect((await call("pw_inspect_page", args)).isError).toBe(false);
  await call("pw_compare", { url: web.url, steps: [WRITE], keep: true });
  await call("pw_compare", { url: web.url });
  // Nor is it in any file of these runs.
  for (const name of await readdir(talk.runs, { recursive: true }))
    if (/\.\w+$/.test(name)) expectNone(await readFile(join(talk.runs, name), "latin1"));
});
