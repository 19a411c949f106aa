import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { page, type Site, serve } from "../../../test/lab.ts";
import { makeTester, type TestTester } from "../../../test/testers.ts";
import { NetworkPolicy } from "../session/policy.ts";

const BODY = `
<header><h1 id="top" class="big title" style="color: rgb(1, 2, 3)">Docs &amp;   guides</h1></header>
<main>
  <nav aria-label="Main"><a href="/docs" title="the docs">Docs</a> <a href="/x">Other</a></nav>
  <p role="status">Saved</p><p hidden id="ghost">Ghost</p>
  <ul><li>one</li><li>two</li><li>three</li></ul>
  <ol><li>uno</li></ol>
  <form>
    <label>Email <input name="email" placeholder="you@example.com" value="ada@example.com"></label>
    <label><input type="checkbox" id="agree" checked> I agree</label>
    <label>Fixed <input id="fixed" readonly value="r"></label>
    <label>Off <input id="off" disabled></label>
    <label>None <input id="none"></label>
    <select aria-label="Color"><option>Red<option selected>Blue</select>
    <button type="button" data-testid="save">Save</button><button type="button" disabled>Send</button>
  </form>
  <img src="/pixel.svg" alt="A pixel" width="10" height="10">
  <div id="late"></div>
  <div style="height: 3000px"></div><footer>The end</footer>
</main>
<script>
  setTimeout(() => { document.querySelector("#late").textContent = "here now"; }, 300);
  console.log("ready to go"); fetch("/api/items?page=1"); document.querySelector("#none").focus();
</script>`;
const BAD = `
<h1>Bad</h1><div style="width: 3000px; height: 5px" class="wide">x</div><img src="/missing.png"><img src="/pixel.svg"><button></button>
<script>
  console.error("it hurts"); console.warn("take care"); fetch("/api/broken"); fetch("/ads/1.js");
  window.addEventListener("load", () => setTimeout(() => { throw new Error("late and bad"); }, 50));
</script>`;

let site: Site;
let lab: TestTester;

beforeAll(async () => {
  const json = (status: number) => (_: unknown, response: import("node:http").ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json" }).end("{}");
  site = await serve({
    "/": page(BODY),
    "/bad": page(BAD),
    "/api/items": json(200),
    "/api/broken": json(500),
    "/ads/1.js": "1",
    "/pixel.svg": (_, response) =>
      void response
        .writeHead(200, { "content-type": "image/svg+xml" })
        .end('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'),
    "/gone": (_, response) =>
      void response.writeHead(404, { "content-type": "text/html" }).end(page("<h1>Gone</h1>")),
  });
  lab = await makeTester();
});
afterAll(async () => {
  await lab?.close();
  await site?.close();
});

/** Every form of the grammar: [page, a passing check, a failing one and its actual value]. */
const FORMS: readonly (readonly [path: string, holds: string, fails: string, actual: string])[] = [
  ["/", "title is 'Docs'", "title is 'Other'", 'the title is "Docs"'],
  ["/", "title is not 'Other'", "title is not 'Docs'", 'the title is "Docs"'],
  ["/", "title matches /^d/i", "title matches /^d/", 'the title is "Docs"'],
  ["/", "url contains '127.0.0.1'", "url contains '/docs'", "the url is"],
  ["/", "url does not contain 'docs'", "url does not contain '127'", "the url is"],
  ["/", "status is 200", "status is 404", "the status is 200"],
  ["/gone", "status 4xx", "status 2xx", "the status is 404"],
  ["/", "h1 is 'Docs & guides'", "h1 is 'Docs'", 'its text is "Docs & guides"'],
  ["/", "h1 contains 'Docs'", "h1 contains 'docs'", 'its text is "Docs & guides"'],
  ["/", "h1 does not contain 'x'", "h6 does not contain 'x'", "nothing matches h6"],
  ["/", "h1 matches /^Docs/", "h1 does not match /^Docs/", "its text is"],
  [
    "/",
    "li in ol contains 'uno'",
    "li contains 'two'",
    "li matches 4 elements. Choose one: text exactly 'one'",
  ],
  ["/", "#late contains 'here'", "#late contains 'there'", 'its text is "here now"'],
  ["/", "h1 is visible", "#ghost is visible", "it is hidden"],
  ["/", "#ghost is hidden", "h1 is hidden", "it is visible"],
  ["/", "h6 is not visible", "h1 is not visible", "it is visible"],
  ["/", "button 'Save' is enabled", "button 'Send' is enabled", "it is disabled"],
  ["/", "button 'Send' is disabled", "button 'Save' is disabled", "it is enabled"],
  ["/", "'I agree' is checked", "#agree is unchecked", "it is checked"],
  ["/", "label 'Email' is editable", "label 'Fixed' is editable", "it is read-only"],
  ["/", "label 'Fixed' is readonly", "label 'Email' is readonly", "it is editable"],
  ["/", "#none is focused", "#off is focused", "it is not focused"],
  ["/", "#none is empty", "#fixed is empty", "it is not empty"],
  ["/", "h1 is in viewport", "footer is in viewport", "it is outside the viewport"],
  ["/", "h1 exists", "h6 exists", "nothing matches"],
  ["/", "h6 does not exist", "li does not exist", "4 elements match"],
  ["/", "not h6 exists", "not h1 exists", "1 element matches"],
  [
    "/",
    "label 'Email' has value 'ada@example.com'",
    "label 'Email' has value contains 'bob'",
    "its value is",
  ],
  ["/", "h1 has class 'big'", "h1 has class 'small'", 'its class is "big title"'],
  ["/", "h1 has id 'top'", "h1 has id 'bottom'", 'its id is "top"'],
  ["/", "label 'Email' has name 'email'", "label 'Email' has name 'mail'", "its attribute name is"],
  ["/", "h1 has text 'Docs & guides'", "h1 has text 'x'", "its text is"],
  [
    "/",
    "link 'Docs' has attribute href",
    "link 'Docs' has attribute rel",
    "it has no attribute rel",
  ],
  [
    "/",
    "link 'Docs' has attribute 'href' '/docs'",
    "link 'Docs' has attribute href contains 'y'",
    "/docs",
  ],
  ["/", "h1 has style 'color' 'rgb(1, 2, 3)'", "h1 has style color is 'red'", "rgb(1, 2, 3)"],
  ["/", "li count is 4", "li count is 3", "the count is 4"],
  ["/", "count of li in ul is 3", "count of li in ul at least 4", "the count is 3"],
  ["/", "li count < 5", "li count more than 4", "the count is 4"],
  ["/", "first li is 'one'", "last li is 'three'", 'its text is "uno"'],
  ["/", "nth 2 li in ul is 'two'", "nth 2 li in ol exists", "nothing matches"],
  ["/", "'Saved' is visible", "'Lost' is visible", "nothing matches"],
  ["/", "status contains 'Saved'", "alert exists", "nothing matches"],
  ["/", "text 'one' exists", "text 'four' exists", "nothing matches"],
  ["/", "placeholder 'you@' exists", "placeholder 'me@' exists", "nothing matches"],
  ["/", "alt 'A pixel' exists", "alt 'A line' exists", "nothing matches"],
  ["/", "testid 'save' is 'Save'", "testid 'send' exists", "nothing matches"],
  [
    "/",
    "link 'Docs' in navigation 'Main' exists",
    "link 'Docs' in footer exists",
    "nothing matches",
  ],
  ["/", "`ul > li:nth-child(2)` is 'two'", "`ul > li:nth-child(9)` exists", "nothing matches"],
  ["/", "no h6", "no li", '4 elements match, the first with the text "one"'],
  ["/", "request to **/api/items*", "request to **/api/none", "requests matches"],
  [
    "/",
    "response /api/items* status is 200",
    "response /api/items* status is 404",
    "with status 200",
  ],
  ["/", "console contains 'ready'", "console contains 'steady'", "ready to go"],
  ["/", "response time under 20s", "load time under 1ms", "it is "],
  ["/", "fcp under 20s", "fcp under 1ms", "it is "],
  ["/", "lcp under 20s", "lcp under 1ms", "it is "],
  ["/", "cls under 1", "cls under 0", "it is 0.000"],
  ["/", "page weight under 1 MB", "page weight under 1 kB", "it is 0.0"],
];

describe("every form of the grammar", () => {
  it.each([...new Set(FORMS.map(([path]) => path))])("passes on %s", async (path) => {
    const assertions = FORMS.filter(([where]) => where === path).map(([, holds]) => holds);
    const report = await lab.run({ url: site.url + path, assertions });
    expect(report.assertions).toMatchObject(assertions.map((name) => ({ name, passed: true })));
    expect(report.passed).toBe(true);
  });

  it.each([...new Set(FORMS.map(([path]) => path))])(
    "fails on %s, with the actual value",
    async (path) => {
      const forms = FORMS.filter(([where]) => where === path);
      const report = await lab.run({
        url: site.url + path,
        // Late content must be there before the failing checks start, because they wait only briefly.
        steps: path === "/" ? ["wait for #late is 'here now'"] : [],
        assertions: forms.map(([, , fails]) =>
          `${fails} within 600ms`.replace(
            /^((?:request|response time|load|fcp|lcp|cls|page weight).*) within 600ms$/,
            "$1",
          ),
        ),
      });
      expect(report.assertions).toHaveLength(forms.length);
      for (const [index, [, , fails, actual]] of forms.entries()) {
        expect(report.assertions[index]?.passed, fails).toBe(false);
        expect(report.assertions[index]?.actual, fails).toContain(actual);
      }
    },
  );

  it("of absence passes on a good page", async () => {
    const assertions = [
      "no console errors",
      "no console warnings",
      "no page errors",
      "no failed requests",
      "no broken images",
      "no horizontal overflow",
      "no mixed content",
      "no requests to **/ads/**",
      "no serious a11y violations in nav",
    ];
    const report = await lab.run({ url: site.url, assertions });
    expect(report.assertions).toMatchObject(assertions.map((name) => ({ name, passed: true })));
  });

  it("of absence fails on a bad page, late errors too", async () => {
    const wanted = {
      "no console errors": "3 console errors, the first:",
      "no console warnings": '1 console warning, the first: "take care',
      "no page errors": '1 page error, the first: "Error: late and bad',
      "no failed requests": '2 failed requests, the first: "GET http',
      "no broken images": "/missing.png",
      "no horizontal overflow": 'px too wide, by "div.wide"',
      "no requests to **/ads/**": "/ads/1.js",
      "no a11y violations": "button-name (critical) at button",
      "no a11y violations in .none": "nothing matches the target",
    };
    const report = await lab.run({ url: `${site.url}/bad`, assertions: Object.keys(wanted) });
    for (const { name, passed, actual } of report.assertions) {
      expect(passed, name).toBe(false);
      expect(actual, name).toContain(Object.entries(wanted).find(([text]) => text === name)?.[1]);
    }
    expect(report.notes?.join()).toContain("late and bad");
  });

  it("of white space shows it", async () => {
    const { url, close } = await serve({
      "/": page(`<h1>Hello&nbsp;World</h1><input value=" x  y "><p title="a\u2003b">c</p>`),
    });
    try {
      const assertions = [
        "h1 matches /hello world/i",
        "input has value 'x y'",
        "p has attribute 'title' 'a b'",
      ];
      const report = await lab.run({ url, assertions: [...assertions, "h1 is 'Hello'"] });
      expect(report.assertions.map(({ actual }) => actual)).toEqual([
        'its text is "Hello\\u00a0World": its white space differs',
        'its value is " x  y ": its white space differs',
        'its attribute title is "a\\u2003b": its white space differs',
        'its text is "Hello World"',
      ]);
    } finally {
      await close();
    }
  });

  it("of failed requests lists each, with the boundary's reason", async () => {
    const policy = new NetworkPolicy({ allowHosts: [], denyHosts: [], allowPrivate: false });
    const guarded = await makeTester({ policy });
    const images = ["http://10.1.2.3/x.png", "http://169.254.169.254/y.png", "/missing.png"];
    const body = images.map((src) => `<img alt="" src="${src}">`).join("");
    const { url, close } = await serve({ "/": page(`<h1>Mixed</h1>${body}`) });
    try {
      const report = await guarded.run({
        url,
        assertions: ["no failed requests", "no console errors"],
      });
      const [, consoleErrors] = report.assertions;
      for (const said of [report.notes?.join(), consoleErrors?.actual])
        expect(said).toMatch(
          /Failed to load resource: [\w:]+ \(http:\/\/10\.1\.2\.3\/x\.png, blocked by this server: .*private.*; --allow-host 10\.1\.2\.3 allows it\)/,
        );
      expect(report.notes?.join()).toMatch(/status of 404 .*\(http:\/\/127[^ ]*\/missing\.png\)/);
      const [{ actual } = { actual: "" }] = report.assertions;
      expect(actual).toContain("3 failed requests");
      expect(actual).toMatch(/10\.1\.2\.3\/x\.png: blocked by this server: .*private/);
      expect(actual).toMatch(/169\.254\.169\.254\/y\.png: blocked by this server: /);
      expect(actual).toContain("/missing.png: 404");
    } finally {
      await close();
      await guarded.close();
    }
  });
});
