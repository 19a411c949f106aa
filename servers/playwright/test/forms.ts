import type { ServerResponse } from "node:http";
import { parseStep } from "../src/browser/language/parse.ts";
import { page, type Site } from "./lab.ts";
import { site } from "./session.ts";

const BODY = `
<style>
  #tip { visibility: hidden } nav:hover + #tip { visibility: visible } .clock { width: 200px; height: 20px; overflow: hidden }
  #log, #late, #loads, #size, .space { height: 40px; margin: 0; overflow: hidden }
  #card, #done { width: 80px; height: 30px; background: #ddd }
</style>
<header>
  <h1 id="top" class="big title" style="color: rgb(1, 2, 3)">Docs &amp;   guides</h1>
  <nav aria-label="Main"><a href="/docs" title="the docs">Docs</a> <a href="/next">Next</a></nav>
  <p id="tip">A tip</p>
</header>
<main>
  <p role="status">Saved</p><p hidden id="ghost">Ghost</p><p class="clock"></p>
  <ul><li>one</li><li>two</li><li>three</li></ul><ol><li>uno</li></ol><table><tr><th>Lamp</th></tr><tr><td>Desk</td></tr></table>
  <form onsubmit="say('sent'); return false">
    <label>Email <input name="email" placeholder="you@example.com" value="ada@example.com"></label>
    <label>Password <input type="password" oninput="say('length ' + this.value.length)"></label>
    <label><input type="checkbox" id="agree" checked> I agree</label>
    <label><input type="checkbox"> News</label>
    <label><input type="radio" id="radio" checked> Radio</label>
    <label>Fixed <input id="fixed" readonly value="r"></label>
    <label>Off <input id="off" disabled></label>
    <label>None <input id="none"></label>
    <label>Color <select onchange="say('color ' + this.value)"><option>Red<option selected>Blue</select></label>
    <label>Fruit <select multiple onchange="say('fruit ' + this.selectedOptions.length)"><option>Fig<option>Kiwi</select></label>
    <label>File <input type="file" onchange="say('file ' + this.files[0].name)"></label>
    <button type="button" data-testid="save" onclick="say('click')" ondblclick="say('double')"
      oncontextmenu="say('right'); return false">Save</button>
    <button type="button" disabled>Send</button><button>Submit</button>
    <button type="button" onclick="say('name ' + prompt('Name?'))">Ask</button>
    <button type="button" onclick="say('sure ' + confirm('Sure?'))">Sure</button>
  </form>
  <p><button type="button" onclick="fetch('/api/users').then((got) => got.text(), () => 'failed').then((text) => say('users ' + text))">Users</button>
    <button type="button" onclick="window.open('/docs')">Open</button>
    <button type="button" onclick="say(navigator.onLine + ' ' + document.cookie)">State</button></p>
  <p class="space"></p>
  <img src="/pixel.svg" alt="A pixel" width="10" height="10">
  <iframe title="Inner" srcdoc="<h2>Inside</h2><button onclick='this.textContent = &quot;Pressed&quot;'>Inner</button>" height="80"></iframe>
  <button type="button" aria-pressed="true">Bold</button><button type="button" aria-pressed="false">Slim</button>
  <details open><summary>More</summary><p>Text</p></details><details><summary>Less</summary></details>
  <label>Must <input id="must" required></label><img alt="Blank" width="5" height="5">
  <button type="button" aria-label="Go on" onclick="say('went on')">»</button>
  <p id="card" draggable="true" onclick="say('at ' + event.offsetX)">Card</p>
  <p id="done" onclick="location = '/empty'" ondragover="event.preventDefault()" ondrop="say('dropped')">Done</p>
  <p id="log"></p><p id="late"></p><p id="loads"></p><p id="size"></p>
  <div style="height: 1200px"></div>
</main>
<footer>The end</footer>
<script>
  document.cookie = "theme=dark"; localStorage.theme = "dark";
  const at = (id) => document.getElementById(id);
  const say = (text) => { at("log").textContent += text + "; "; };
  const measure = () => { at("size").textContent = innerWidth + "x" + innerHeight; };
  onresize = measure; measure();
  setTimeout(() => { at("late").textContent = "here now"; }, 300);
  sessionStorage.loads = Number(sessionStorage.loads ?? 0) + 1;
  at("loads").textContent = "loaded " + sessionStorage.loads;
  document.querySelector(".clock").textContent = String(Math.random());
  fetch("/api/log", { method: "POST", body: "a visit to the docs" });
  const report = document.createElement("a");
  Object.assign(report, { href: "/report.csv", download: "report.csv" }).click();
  setTimeout(() => alert("Welcome on board"), 10);
  console.log("ready to go"); fetch("/api/items?page=1"); at("none").focus();
  if (location.search === "?bad") {
    for (const end = performance.now() + 200; performance.now() < end;);
    document.body.insertAdjacentHTML("beforeend",
      '<p style="width: 3000px; height: 5px" class="wide">x</p><button class="nameless"></button>');
    document.querySelector(".wide").attachShadow({ mode: "open" }).innerHTML = '<img alt="" src="/missing.png">';
    console.error("it hurts"); console.warn("take care"); fetch("/api/broken");
    addEventListener("load", () => setTimeout(() => { throw new Error("late and bad"); }, 50));
  }
</script>`;

const answer =
  (status: number, type: string, body: string) => (_: unknown, response: ServerResponse) =>
    void response.writeHead(status, { "content-type": type }).end(body);

/** The page that has something for every form of the language, and what it loads. */
export function formsSite(): Promise<Site> {
  return site({
    "/": page(BODY),
    "/docs": page("<h1>The docs</h1>"),
    "/next": page("<h1>Next</h1>"),
    "/empty": answer(204, "text/plain", ""),
    "/api/items": answer(200, "application/json", '{"items":["Lamp"]}'),
    "/api/users": answer(200, "application/json", "3 of them"),
    "/api/log": answer(200, "application/json", "{}"),
    "/report.csv": answer(200, "text/csv", "lamp,3"),
    "/api/broken": answer(500, "application/json", "{}"),
    "/pixel.svg": answer(200, "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"/>'),
  });
}

/** An assertion that passes on the page, one that fails, and the actual value in its message. */
export type CheckForm = readonly [holds: string, fails: string, actual: string];

/** The forms of assertions. */
export const CHECKS: readonly CheckForm[] = [
  // The page.
  ["title is 'Docs'", "title is 'Other'", 'the title is "Docs"'],
  ["title contains 'oc'", "title is not 'Docs'", 'the title is "Docs"'],
  ["title starts with 'Do'", "title ends with 'Do'", 'the title is "Docs"'],
  ["title matches /^d/i", "title matches /^d/", 'the title is "Docs"'],
  ["url does not contain 'docs'", "url does not contain '127'", "the url is"],
  ["status is 200", "status is 404", "the status is 200"],
  ["status 2xx", "status 4xx", "the status is 200"],
  // A text.
  ["h1 is 'Docs & guides'", "h1 is 'Docs'", 'its text is "Docs & guides"'],
  ["h1 contains 'Docs'", "h1 contains 'docs'", 'its text is "Docs & guides"'],
  ["h1 does not contain 'x'", "h6 does not contain 'x'", "nothing matches h6"],
  ["h1 matches /^Docs/", "h1 does not match /^Docs/", "its text is"],
  ["li in ol contains 'uno'", "li contains 'two'", "li matches 4 elements. Choose one: text exac"],
  ["#late contains 'here' within 20s", "#late contains 'there' within 20ms", "its text is"],
  // A state.
  ["h1 is visible", "#ghost is visible", "it is hidden"],
  ["h6 is not visible", "h1 is not visible", "it is visible"],
  ["#ghost is hidden", "h1 is hidden", "it is visible"],
  ["button 'Save' is enabled", "button 'Send' is enabled", "it is disabled"],
  ["button 'Send' is disabled", "button 'Save' is disabled", "it is enabled"],
  ["'I agree' is checked", "'News' is checked", "it is unchecked"],
  ["'News' is unchecked", "#agree is unchecked", "it is checked"],
  ["label 'Email' is editable", "label 'Fixed' is editable", "it is read-only"],
  ["label 'Fixed' is readonly", "label 'Email' is readonly", "it is editable"],
  ["#none is focused", "#off is focused", "it is not focused"],
  ["#none is empty", "#fixed is empty", "it is not empty"],
  ["h1 is in viewport", "footer is in viewport", "it is outside the viewport"],
  ["label 'Radio' is selected", "'News' is selected", "it is not selected"],
  ["last option in 'Color' is selected", "first option in 'Color' is selected", "not selected"],
  ["first details is expanded", "last details is expanded", "it is not expanded"],
  ["last details is collapsed", "h6 is collapsed", "nothing matches h6"],
  ["button 'Bold' is pressed", "button 'Slim' is pressed", "it is not pressed"],
  ["button 'Slim' is not pressed", "button 'Bold' is not pressed", "it is pressed"],
  ["label 'Must' is required", "label 'Email' is required", "it is not required"],
  ["#must is invalid", "label 'Email' is invalid", "it is not invalid"],
  // Existence and number.
  ["h1 exists", "h6 exists", "nothing matches"],
  ["h6 does not exist", "li does not exist", "4 elements match"],
  ["li count is 4", "li count is 3", "the count is 4"],
  ["li count at least 4", "li count at least 5", "the count is 4"],
  ["li count at most 4", "li count <= 3", "the count is 4"],
  ["li count less than 5", "li count > 4", "the count is 4"],
  ["exactly one h1", "exactly 1 li", "the count is 4"],
  ["there are at least 3 li in ul", "5 li are visible", "the count is 4"],
  ["table has 1 row", "table has 2 rows", "the count is 1"],
  // A property.
  ["'Email' has value 'ada@example.com'", "'Email' has value contains 'bob'", "its value is"],
  ["field 'Email' contains 'ada'", "field 'Email' is 'ada'", 'its value is "ada@example.com"'],
  ["h1 has class 'big'", "h1 has class 'small'", 'its class is "big title"'],
  ["link 'Docs' has attribute href", "link 'Docs' has attribute rel", "it has no attribute rel"],
  ["link 'Docs' has href '/docs'", "link 'Docs' has href contains 'x'", 'is "/docs"'],
  ["h1 has style 'color' 'rgb(1, 2, 3)'", "h1 has style color is 'red'", "rgb(1, 2, 3)"],
  // Lines of Playwright.
  ["expect(page.locator('h1')).toBeVisible()", "expect(page.locator('#ghost')).toBeVisible()", ""],
  [
    "expect(page.getByLabel('Email')).toHaveValue('ada@example.com')",
    "expect(page.getByLabel('Email')).toHaveValue(/bob/, { timeout: 400 })",
    'its value is "ada@example.com"',
  ],
  [
    "expect(page.locator('li')).toHaveCount(4)",
    "expect(page.locator('li')).toHaveCount(3)",
    "is 4",
  ],
  [
    "expect(page.frameLocator('iframe').getByRole('heading')).toHaveText('Inside')",
    "expect(page.getByRole('heading', { level: 1 })).toHaveText('Docs', { timeout: 400 })",
    'its text is "Docs & guides"',
  ],
  ["expect(page).toHaveTitle(/^docs/i)", "expect(page).toHaveTitle('Other')", 'is "Docs"'],
  // Targets.
  ["first li is 'one'", "last li is 'three'", 'its text is "uno"'],
  ["nth 2 li in ul is 'two'", "nth 2 li in ol exists", "nothing matches"],
  ["'Saved' is visible", "'Lost' is visible", "nothing matches"],
  ["status contains 'Saved'", "alert exists", "nothing matches"],
  ["status 'Saved' is visible", "no status 'Saved'", "1 element matches"],
  ["no listitem exactly 'tw'", "no listitem 'two'", "1 element matches"],
  ["label 'Fixed' exists", "label 'Broken' exists", "nothing matches"],
  ["alt 'A pixel' exists", "alt 'A line' exists", "nothing matches"],
  ["title 'the docs' is 'Docs'", "title 'no docs' exists", "nothing matches"],
  ["testid 'save' is 'Save'", "testid 'send' exists", "nothing matches"],
  ["h2 in frame 'Inner' is 'Inside'", "h2 in frame 'Outer' exists", "nothing matches"],
  ["h2 in iframe is 'Inside'", "no h2 in first iframe", "1 element matches"],
  ["button exactly 'Save' is visible", "button exactly 'save' exists", "nothing matches"],
  ["exactly 'Saved' is visible", "exactly 'saved' exists", "nothing matches"],
  ["`ul > li:nth-child(2)` is 'two'", "`ul > li:nth-child(9)` exists", "nothing matches"],
  ["li containing 'two' is 'two'", "li containing 'four' exists", "nothing matches"],
  ["heading 'Docs' level 1 is visible", "heading level 3 exists", "heading level 3"],
  // The network, and absence.
  ["request to **/api/items*", "request to **/api/none", "requests matches"],
  ["request to POST /api/log", "request to GET /api/log", "requests matches"],
  ["request to /api/log contains 'a visit'", "request to /api/log contains 'two'", "last body is"],
  ["response /api/items* status is 200", "response /api/items* status is 404 within 3s", "200"],
  ["download 're*.csv'", "download '*.pdf'", 'downloads: "report.csv" '],
  ["no h6", "no li", "4 elements match"],
  ["no requests to **/ads/**", "no requests to **/api/*", "2 matched"],
  ["no requests to nowhere.test", "no requests to 'API/it'", "matched"],
  // Quality.
  ["response time under 20s", "response time under 0.01ms", "it is "],
  ["load time under 20s", "load time under 0.01ms", "it is "],
  ["lcp under 20s", "lcp under 0.01ms", "it is "],
  ["cls under 1", "cls under 0", "it is 0.0"],
];

/** Checks that pass on the page and fail on its bad version (`/?bad`). */
export const ABSENCES: readonly CheckForm[] = [
  ["no console errors", "no console errors", 'the first: "uncaught Error: late and bad'],
  ["no page errors", "no page errors", '1 page error, the first: "Error: late and bad'],
  ["no failed requests", "no failed requests", '2 failed requests, the first: "GET http'],
  ["no broken images", "no broken images", "/missing.png"],
  ["no horizontal overflow", "no horizontal overflow", "px too wide"],
  ["no critical a11y violations", "no critical a11y violations", "button-name (critical)"],
  ["no minor a11y violations in nav", "no a11y violations in .nameless", "button-name (critical)"],
];

/** A placeholder for the path of an uploadable file. */
export const FILE = "FILE";

/** Steps, and an assertion that passes afterwards. */
export type StepForm = readonly [effect: string, ...steps: string[]];

const STATE = "click button 'State'";
/** Steps for the page's environment, in an order in which all work one after the other. */
export const AROUND: readonly StepForm[] = [
  ["h1 is visible", "mock GET /api/users with 200 'nobody'", "set cookie 'early' to 'yes'"],
  ["#log contains 'users nobody;'", "click button 'Users'"],
  ["#log contains 'users nobody; users nobody;'", `use har '${FILE}'`, "click button 'Users'"],
  ["#log contains 'early=yes; theme=dark; late=yes;'", "set cookie 'late' to 'yes'", STATE],
  ["#log contains 'false early=yes'", "offline", STATE],
  ["#log contains 'failed;'", "online", "block /api/users", "click button 'Users'"],
  ["h1 is 'The docs'", "click button 'Open'", "switch to new tab"],
  ["h1 contains 'guides'", "switch to tab 1"],
  ["#none has value 'abc'", "type 'abc' into #none"],
];

/** The other steps, also in a working order. */
export const STEPS: readonly StepForm[] = [
  ["button in frame 'Inner' is 'Pressed'", "click button 'Inner' in frame 'Inner'"],
  ["#log contains 'click;'", "await page.getByRole('button', { name: 'Save' }).click();"],
  ["expect(page.getByLabel('None')).toHaveValue('x')", "page.getByLabel('None').fill('x')"],
  ["#none is empty", "page.getByLabel('None').clear()"],
  ["#log contains 'double;'", "double click testid 'save'"],
  [
    "#log contains 'double; click; click; right;'",
    "click testid 'save' 2 times",
    "right click testid 'save'",
  ],
  ["'Email' has value 'bob@example.com'", "fill label 'Email' with 'bob@example.com'"],
  ["#log contains 'length 14;'", "fill 'Password' with secret 'PASSWORD'"],
  ["'Email' is empty", "clear placeholder 'you@example.com'"],
  ["#none is focused", "fill 'None' with ''"],
  ["#none has value 'hello'", "type 'hello'"],
  ["#none is empty", "press Ctrl+A", "press Delete"],
  ["#none has value 'xxx'", "press x 3 times on 'None'"],
  ["#log contains 'sent;'", "press Enter on 'Email'"],
  ["#agree is unchecked", "uncheck 'I agree'"],
  ["#agree is checked", "check 'I agree'"],
  ["#log contains 'color Red;'", "select 'Red' in label 'Color'"],
  ["#log contains 'fruit 2;'", "select 'Fig' and 'Kiwi' in label 'Fruit'"],
  ["#log contains 'file notes.txt;'", `upload '${FILE}' to label 'File'`],
  ["#tip is visible", "hover nav"],
  ["#log contains 'dropped;'", "drag #card to #done"],
  ["#log contains 'name Ada;'", "accept dialog with 'Ada'", "click button 'Ask'"],
  ["#log contains 'sure true;'", "accept dialog", "click button 'Sure'"],
  ["#log contains 'sure false;'", "dismiss dialog", "click button 'Sure'"],
  ["footer is in viewport", "scroll to footer"],
  ["footer is not in viewport", "scroll to top"],
  ["footer is in viewport", "scroll to bottom"],
  ["#log contains 'went on;'", "click button 'Go on'"],
  ["status is 200", "click #done"],
  ["nav is visible", "screenshot", "screenshot 'menu' of nav", "expect h1 contains 'Docs'"],
  ["h1 is visible", "wait for 10ms", "wait for 0.01s", "wait for h1", "wait for network idle"],
  ["#late is 'here now'", "wait for #late contains 'here'"],
  ["#loads is 'loaded 2'", "reload"],
  ["url contains '/next'", "goto /next"],
  ["#loads is 'loaded 3'", "go back"],
];

/** The steps of forms, each with its effect. */
export const playing = (forms: readonly StepForm[], file: string, within = ""): string[] =>
  forms
    .flatMap(([effect, ...steps]) => [
      ...steps,
      effect.startsWith("expect") ? effect : `expect ${effect}${within}`,
    ])
    .map((text) => text.replace(FILE, file));

/** An assertion as a step has it. */
export function assertionOf(text: string) {
  const isClaim = /^(?:expect|verify|assert)\b/i.test(text);
  const { action } = parseStep(isClaim ? text : `expect ${text}`);
  if (!("assertion" in action)) throw new Error("not an assertion");
  return action.assertion;
}
