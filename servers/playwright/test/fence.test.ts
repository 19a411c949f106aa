import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
import { page } from "./lab.ts";
import { folderOf, session, site } from "./session.ts";
import { makeTester } from "./testers.ts";

// No verdict is weaker than its sentence: pages on which a careless check would pass.

const BOOM = "throw new Error('boom')";
const later = (ms: number, code: string) => `<script>setTimeout(() => { ${code} }, ${ms})</script>`;
const IMAGE = '<img alt="" src="/missing.png" width="9" height="9" style="margin-top:9000px" ';

const HIDDEN_TWIN = "<p>Wrong: total <i hidden>Wrong details</i></p>";
/** Each with a sentence that fails there and passes on a calm page, and what its answer says. */
const PAGES: readonly (readonly [name: string, html: string, sentence: string, said: string])[] = [
  ["a script throws", `<script>${BOOM}</script>`, "no console errors", "boom"],
  ["a rejection", "<script>Promise.reject(Error('boom'))</script>", "no console errors", "boom"],
  ["a later timer throws", later(1_500, BOOM), "no console errors", "boom"],
  ["a frame throws", `<iframe srcdoc="<script>${BOOM}</script>">`, "no console errors", "boom"],
  ["another page in a frame throws", '<iframe src="/throws">', "no console errors", "boom"],
  [
    "a worker throws",
    `<script>new Worker(URL.createObjectURL(new Blob(["${BOOM}"])))</script>`,
    "no console errors",
    "boom",
  ],
  ["late data", "<script>ask()</script>", "no failed requests", "/late"],
  ["an error after late data", "<script>ask()</script>", "no console errors", "no data"],
  ["a text after late data", "<script>ask()</script>", "'Gone' is not visible", "it is visible"],
  ["a lazy image", `${IMAGE} loading="lazy">`, "no broken images", "missing.png"],
  ["an image in a frame", `<iframe srcdoc='${IMAGE}>'>`, "no broken images", "missing.png"],
  [
    "a field in a frame",
    '<iframe title="In" srcdoc="<input>">',
    "no critical a11y violations",
    "label",
  ],
  [
    "a large text that arrives late",
    later(1_800, "add('<h2 style=\"font: 90px serif\">' + 'large text '.repeat(20) + '</h2>')"),
    "lcp under 1700ms",
    " ms",
  ],
  [
    "shifts within a second",
    later(900, "move(200)") + later(1_300, "move(200)"),
    "cls under 0.1",
    "it is 0.",
  ],
  ["a word of its text", "<p>A NaN</p><p>NaN</p>", "body does not contain 'NaN'", "2 elements"],
  ["a frame as an element", '<iframe id="pay" srcdoc="<b>">', "no b in #pay", "is an iframe"],
  ["a frame as a list", '<iframe id="pay">', "#pay has at most 3 li", "is an iframe"],
  [
    "one of two frames",
    '<iframe></iframe><iframe srcdoc="Gone">',
    "no 'Gone' in iframe",
    "2 iframes",
  ],
  [
    "a frame that is not there",
    '<iframe title="Shop" srcdoc="Error"></iframe>',
    "no 'Error' in frame 'Shopp'",
    "no frame 'Shopp'; frames: \"Shop\"",
  ],
  [
    "a late image",
    `<script>onload = () => add('<img src="/late">')</script>`,
    "no broken images",
    "late",
  ],
  ["a title", "<script>document.title = ''</script>", "title matches /./", 'is ""'],
  ["the other form of a letter", "<h2>Gro\u0308ße</h2>", "h2 is not 'Größe'", "Gro"],
  ["the other form in a name", "<button>Gro\u0308ße</button>", "no button 'Größe'", "NFD"],
  ["and in a text", "<p>ungu\u0308ltig</p>", "'ungültig' is not visible", "NFD"],
  ["a soft hyphen", "<p>Donau&shy;dampf</p>", "page does not contain 'Donaudampf'", "shows"],
  ["a hidden twin", HIDDEN_TWIN, "page does not contain 'Wrong'", "Wrong: total"],
  ["a hidden twin of a text", HIDDEN_TWIN, "'Wrong' is not visible", "Wrong: total"],
  ["a choice", "<select><option>Red<option selected>Blue", "page does not contain 'Blue'", "Blue"],
  ["a choice as a text", "<select><option>Red<option selected>Blue", "'Blue' is hidden", "Blue"],
];
/** Where words, drawings and a hidden twin must mislead no check. */
const CALM = `<h2>Grosse</h2><p>Finance and maintenance</p><svg><title>one</title></svg>
  <svg><title>two</title></svg><a href="#" hidden>Home</a><a href="#">Home</a><p id="pay"></p>
  <iframe title="Shopp"></iframe><p>Total <i hidden>Wrong details</i></p><select aria-label="Color"><option>Red<option>Blue</select>
  <button hidden>Gro\u0308ße!</button>`;
const SCRIPT = `<script>
  const ask = () => fetch("/late").then(() => { console.error("no data"); document.body.append("Gone"); });
  const add = (html) => document.body.insertAdjacentHTML("afterbegin", html);
  const move = (by) => add("<p style='height:" + by + "px'>x</p>");
</script>`;

/** Works for three seconds without a timer of the page. */
const WORKING = `<script>const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => (performance.now() < 3000 ? port2.postMessage(0) : document.body.append("Done"));
  port2.postMessage(0)</script>`;
const whole = (html: string) => page(`<h1>Docs</h1>${html}`, SCRIPT);

const lab = makeTester();
const web = await site({
  ...Object.fromEntries(PAGES.map(([, html], index) => [`/${index}`, whole(html)])),
  "/calm": whole(CALM),
  "/throws": `<script>${BOOM}</script>`,
  "/late": (_, response) => void setTimeout(() => response.writeHead(500).end("no data"), 3_000),
  "/open": whole('<script>onload = () => { new Image().src = "/open/data"; }</script>'),
  "/open/data": () => undefined,
  "/font": whole("<style>@font-face{font-family:f;src:url(/open/data)}h1{font:9px f}</style>"),
  "/working": whole(WORKING),
});

it.concurrent.each(PAGES.map((row, index) => [...row, index] as const))(
  "a sentence must not pass: %s",
  async (_name, _html, sentence, said, index) => {
    const { assertions } = await lab.run({ url: `${web.url}/${index}`, assertions: [sentence] });
    expect(assertions).toEqual([
      { name: sentence, passed: false, actual: expect.stringContaining(said) },
    ]);
  },
);

it("each sentence passes on a calm page", async () => {
  const sentences = PAGES.map(([, , sentence]) => sentence.replace(/^(lcp under) .*/, "$1 90s"));
  const assertions = [...new Set(sentences), "'Home' is visible"];
  const report = await lab.run({ url: `${web.url}/calm`, assertions });
  expect(report.assertions.filter(({ passed }) => !passed)).toEqual([]);
});

it("an uncaught error is noted in a verdict about something else", async () => {
  const report = await lab.run({ url: `${web.url}/0`, assertions: ["h1 is 'Docs'"] });
  expect(report).toMatchObject({ passed: true, notes: [expect.stringContaining("boom")] });
});

it("a request that is still open is named", async () => {
  const report = await lab.run({ url: `${web.url}/open`, assertions: ["no console errors"] });
  expect(report.passed).toBe(true);
  expect(report.notes?.join()).toMatch(/checked while GET \S+\/open\/data was still open/);
});

it("what is not painted to the end is not measured, and costs no other verdict", async () => {
  const run = { assertions: ["h1 is 'Docs'", "lcp under 90s"], evidence: [], timeoutMs: 60_000 };
  const { assertions } = await lab.run({ url: `${web.url}/font`, ...run });
  const actual = expect.stringContaining("not measured");
  expect(assertions).toMatchObject([{ passed: true }, { passed: false, actual }]);
});

it("a check with within waits that long, whatever works", async () => {
  const assertions = ["'Done' is visible within 60s"];
  expect((await lab.run({ url: `${web.url}/working`, assertions })).passed).toBe(true);
});

it("the time limit of a run begins when its page is open, not when its browser starts", async (ctx) => {
  if (process.platform === "win32") ctx.skip("needs a shell script");
  const { executablePath } = await ensureBrowser();
  const slow = join(await folderOf("slow"), "browser.sh");
  await writeFile(slow, `#!/bin/sh\nsleep 9\nexec "${executablePath}" "$@"\n`);
  await chmod(slow, 0o755);
  const talk = await session({ executablePath: slow });
  const args = { url: `${web.url}/calm`, assertions: ["h1 is 'Docs'"], timeout_ms: 8_000 };
  expect((await talk.good("pw_run_test", args)).data.passed).toBe(true);
});
