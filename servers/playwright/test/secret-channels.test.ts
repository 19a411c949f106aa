import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import { unpack } from "../src/browser/store/zip.ts";
import { page, type Site } from "./lab.ts";
import { site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";

const SECRET = "hunter22Zq";
const PARTS = Array.from({ length: SECRET.length - 3 }, (_, at) => SECRET.slice(at, at + 4).toLowerCase());

/** Shows what is written everywhere, renames and replaces its field, and adds another one before it. */
const PAGE = page(
  `<main><h1>Sign in</h1><form id="f" action="/in"><label id="l"><span>Token</span> <input id="t"></label></form>
  <label>Other <input id="o"></label><label>Third <textarea id="a"></textarea></label>
  <p id="m"></p><div id="d">x</div><button onclick="alert(t.value.slice(0, -1))">Ask</button>
  <a id="dl" download="x.txt" href="data:,x">Save</a></main>
  <script>
    const t = document.querySelector("#t");
    t.oninput = () => {
      const { value } = t;
      t.setAttribute("value", value);
      m.textContent = value + " shown";
      d.dataset.v = value;
      d.title = value;
      d.style.setProperty("--v", value);
      d.setAttribute("aria-label", value);
      o.placeholder = value;
      document.cookie = "v=" + value;
      localStorage.v = value;
      document.title = value;
      dl.download = value.slice(0, 8) + ".txt";
      console.log("typed " + value);
      history.replaceState(0, "", "/?q=" + value);
      fetch("/api?q=" + value, { method: "POST", body: JSON.stringify({ token: value }) }).then((r) => r.text());
      l.firstChild.textContent = "Renamed";
    };
  </script>`,
  "<style>* { font: 20px monospace } input, textarea, p, div { display: block; width: 300px; height: 30px }</style>",
);
/** Replaces the field by a clone under another label, after the secret was written. */
const CLONE = `t.addEventListener("input", () => { const c = t.cloneNode(); c.value = t.value; t.replaceWith(c);
  document.querySelector("main").prepend(document.createElement("input")) })`;

let lab: TestTester;
let web: Site;
beforeAll(async () => {
  web = await site({
    "/": PAGE,
    "/clone": PAGE.replace("</script>", `${CLONE}</script>`),
    "/code": page(
      `<label>Code <input id="a1" maxlength="1"></label>${[2, 3, 4].map((n) => `<input id="a${n}" aria-label="Digit ${n}" maxlength="1">`).join("")}
      <script>oninput = ({ target }) => target.nextElementSibling?.focus() ?? document.querySelector("#a" + (+target.id[1] + 1))?.focus()</script>`,
    ),
    "/api": (request, response) => {
      response.setHeader("x-echo", request.url ?? "");
      request.pipe(response);
    },
    "*": PAGE,
  });
  lab = await makeTester({
    secrets: new Secrets([
      ["KEY", SECRET],
      ["ELSE", "wvkxjy77Pm"],
      ["CODE", "7391"],
      ["WEAK", "password1"],
      // As in the folder of the artifacts.
      ["PATH", "-playwright-"],
    ]),
  });
});
afterAll(() => lab?.close());

const FILL = "fill 'Token' with secret 'KEY'";
const look = { limit: 40, budget: 8_000 };
const seen = (steps: string[], path = "/") => lab.run({ url: web.url + path, steps: [FILL, ...steps], look });

function expectNoPart(text: string): void {
  const lower = text.toLowerCase();
  expect(PARTS.filter((part) => lower.includes(part))).toEqual([]);
  expect(lower).not.toContain(Buffer.from(SECRET).toString("hex"));
}

describe("a written secret does not leave the browser", () => {
  it.each([
    [["press Backspace on 'Renamed'"], "the field holds a secret"],
    [["focus 'Renamed'", "press Home", "press Delete"], "the field holds a secret"],
    [["focus 'Renamed'", "press Shift+ArrowLeft"], "the field holds a secret"],
    [["type 'x' into 'Renamed'"], "the field holds a secret"],
    [["focus 'Renamed'", "type 'x'"], "the field holds a secret"],
    [["press Control+X on 'Renamed'"], "Control+X is not pressed"],
    [["press Control+A on 'Other'", "press Control+KeyC"], "Control+KeyC is not pressed"],
    [["press Shift+Insert on 'Other'"], "Shift+Insert is not pressed"],
    [["drag label 'Renamed' to 'Other'"], "holds or shows a secret"],
    [["drag `#m` to 'Other'"], "holds or shows a secret"],
  ])("by %j", async (steps, why) => {
    const report = await seen(steps);
    expect(report.failed_step).toContain(why);
    expect(report.seen?.snapshot).toContain('textbox "Renamed": "[secret KEY]"');
    expectNoPart(JSON.stringify(report));
  });

  it("by letters that a check or a selector guesses: a right and a wrong guess have the same outcome", async () => {
    const checks = (guess: string) => [
      `\`input[value^="${guess}"]\` count is 1`,
      `\`input[va\\6cue*="${guess}"]\` count is 1`,
      `\`[data-v*="${guess}"]\` exists`,
      `\`main:has([title^="${guess}"]) h1\` is visible`,
      `\`p:has-text("${guess}")\` is visible`,
      `\`xpath=//p[contains(., "${guess}")]\` exists`,
      `'${guess}' is visible`,
      `no '${guess}'`,
      `main contains '${guess}'`,
      `h1 in main containing '${guess}' is visible`,
      `\`#m\` matches /^${guess}/`,
      `\`#m\` does not contain '${guess}'`,
      `title '${guess}' exists`,
      `placeholder '${guess}' exists`,
      `\`#d\` has attribute data-v contains '${guess}'`,
      `\`#d\` has style '--v' contains '${guess}'`,
      `label 'Renamed' has value matches /^${guess}/`,
      `not label 'Renamed' has value matches /^${guess}/`,
      `main matches aria snapshot '- textbox "Renamed": /${guess}/'`,
      `title matches /${guess}/`,
      `title does not contain '${guess}'`,
      `url contains 'q=${guess}'`,
      `url matches /q=${guess}/`,
      `request to POST /api* contains 'token":"${guess}'`,
      `request to /api?q=${guess}*`,
      `no requests to **/api?q=${guess}*`,
      `response /api* contains '${guess}'`,
      `cookie 'v' contains '${guess}'`,
      `cookie 'v' is not '${guess}'`,
      `localStorage 'v' matches /^${guess}/`,
      `response /api* has header 'x-echo' contains '=${guess}'`,
      `'Other' has placeholder matches /^${guess}/`,
      `label 'Renamed' is invalid`,
      `console contains 'typed ${guess}'`,
      `dialog message contains '${guess}'`,
      `download '${guess}*'`,
    ];
    const run = (guess: string) =>
      lab.run({
        url: web.url,
        steps: [FILL, "click 'Ask'", "click 'Save'", "wait for 300ms"],
        assertions: checks(guess).map((one) =>
          `${one} within 50ms`.replace(/^(no '.*|no requests.*) within 50ms$/, "$1"),
        ),
        evidence: ["screenshot", "trace", "har", "network", "a11y"],
      });
    const [right, wrong] = [await run("hunt"), await run("jump")];
    const outcomes = ({ assertions }: typeof right, guess: string) =>
      assertions.map(({ name, passed, actual }) =>
        JSON.stringify({ name, passed, actual }).replaceAll(guess, "GUESS"),
      );
    expect(outcomes(right, "hunt")).toEqual(outcomes(wrong, "jump"));
    expect(right.assertions[0]?.actual).toContain("selectors do not compare value");
    const { assertions, ...rest } = right;
    expectNoPart(JSON.stringify([rest, assertions.map(({ actual }) => actual?.replaceAll("hunt", ""))]));
    for (const { name, path } of right.artifacts ?? []) {
      if (name.endsWith(".png") || name === "report.json") continue;
      const files = name.endsWith(".zip") ? [...(await unpack(path)).values()] : [await readFile(path)];
      for (const file of files)
        expectNoPart(
          Buffer.from(file)
            .toString("utf8")
            .replaceAll(/hunt(?!er)/g, ""),
        );
    }
  });

  it("by a mock that only requests with the right letters get", async () => {
    const run = (guess: string) =>
      lab.run({
        url: web.url,
        steps: [`mock **/api?q=${guess}* with 404`, FILL, "wait for network idle"],
        assertions: ["response **/api* status is 200"],
      });
    expect((await run("hunt")).passed).toBe(true);
  });

  it("by a mock with code of the model, before or after it", async () => {
    const mock = "mock /frame with '<p>code</p>'";
    await expect(
      lab.run({ url: web.url, steps: [mock, "goto /frame", "goto /", FILL] }),
    ).rejects.toMatchObject({ kind: "denied", message: expect.stringContaining("cannot use secrets") });
    const report = await lab.run({ url: web.url, steps: [FILL, mock, "goto /frame"] });
    expect(report.failed_step).toContain("goto /frame");
    expect(report.notes?.join()).toContain("a secret was written");
  });

  it.each(["/", "/clone"])(
    "in a picture of a page that renames, shows and replaces it (%s)",
    async (path) => {
      const pictures = ["KEY", "ELSE"].map(async (name) => {
        const report = await lab.run({
          url: web.url + path,
          steps: [`fill 'Token' with secret '${name}'`, "wait for network idle"],
          evidence: ["screenshot"],
        });
        return readFile(report.artifacts?.find((one) => one.name.endsWith(".png"))?.path ?? "");
      });
      const [one, other] = await Promise.all(pictures);
      expect(one?.equals(other ?? Buffer.alloc(0))).toBe(true);
    },
  );

  it("from the fields that a site fills with one character each", async () => {
    const steps = ["focus `#a1`", "type secret 'CODE'"];
    const report = await lab.run({ url: `${web.url}/code`, steps, look });
    expect(report.failed_step).toBeUndefined();
    expect(report.seen?.snapshot.match(/\[secret CODE\]/g)).toHaveLength(4);
    expect(report.seen?.snapshot).not.toMatch(/: "?[7391]"?$/m);
  });

  it("and hides nothing that the page or the model had before", async () => {
    const report = await lab.run({
      url: web.url,
      steps: [
        "fill 'Token' with secret 'PATH'",
        "fill 'Renamed' with secret 'WEAK'",
        "fill 'Other' with 'my passw'",
        "fill 'Third' with 'hunt'",
      ],
      assertions: ["label 'Other' has value 'my passw'", "h1 is 'Sign in'", "label 'Third' has value 'hunt'"],
      look,
      evidence: ["screenshot"],
    });
    expect(report.assertions.map(({ actual }) => actual)).toEqual([undefined, undefined, undefined]);
    expect(report.seen?.snapshot).toContain("my passw");
    expect(report.seen?.snapshot).not.toContain("password1");
    for (const { path, uri } of report.artifacts ?? []) expect(path + uri).not.toContain("[secret");
    expect(report.artifacts).not.toEqual([]);
  });
});
