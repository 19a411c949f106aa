import { page } from "./lab.ts";

/**
 * The attacks on a secret that are tried, each in one line. `secret-attacks.test.ts` makes every one twice, with two
 * secrets that differ in each character: whatever comes out must be the same for both, the pictures to the pixel, and
 * no four characters of the secret may be in the answer or in a screenshot's name, trace, HAR, network log,
 * accessibility report, download or resource.
 */
export interface Attack {
  /** What the model tries. */
  readonly attack: string;
  /** The page; default: one that shows the field's value in every way that frameworks do, under a new label. */
  readonly on?: keyof typeof PAGES;
  /** How the secret gets into the page; default: it is filled into the field Token. */
  readonly writes?: readonly string[];
  /** Steps after it. */
  readonly steps?: readonly string[];
  /** The reason of the step that must fail. */
  readonly refused?: string;
  /** Checks; they may wait 50 ms. */
  readonly checks?: readonly string[];
  /** A later run of the same model, without a secret in its steps. */
  readonly later?: {
    readonly on?: keyof typeof PAGES;
    readonly steps: readonly string[];
    readonly checks?: readonly string[];
  };
  /** Secrets other than KEY and ELSE: of another length, or with too few characters to be recognized in a text. */
  readonly secrets?: readonly [string, string];
}

/** Two secrets of one length without a common character; the guesses below are right for the first. */
export const SECRETS = {
  KEY: "hunter22Zq",
  ELSE: "wvkxjy77Pm",
  LONGER: "wvkxjy77Pm-and-more-of-it",
  CODE: "7391",
  DIGITS: "8426",
} as const;

/** Runs on each input into the field; `value` is what it has then. */
const onInput = (script: string, html = "", style = "") =>
  page(
    `<main><h1>Sign in</h1><label>Token <input id="t" autocomplete="off"></label> <label>Other <input id="o"></label>${html}</main>
    <script>const t = document.querySelector("#t"), o = document.querySelector("#o"), main = document.querySelector("main");
    const $ = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text }, more);
    let first = true; t.addEventListener("input", () => { const { value } = t; ${script}; first = false })</script>`,
    `<style>* { font: 20px monospace } input, textarea, p, div { display: block; width: 300px; height: 30px } ${style}</style>`,
  );

/** How one of the pages below shows the value, for pictures and for checks. */
export const PAGES = {
  mirrors: page(
    `<main><h1>Sign in</h1><form id="f" action="/in"><label id="l"><span>Token</span> <input id="t"></label></form>
    <label>Other <input id="o"></label><label>Third <textarea id="a"></textarea></label>
    <p id="m"></p><div id="d">x</div><button onclick="alert(t.value.slice(0, -1))">Ask</button>
    <button onclick="prompt('Token?', t.value)">Prompt</button><button onclick="throw new Error('bad ' + t.value)">Throw</button>
    <button onclick="o.value = t.value.slice(1)">Shorten</button><button onclick="getSelection().selectAllChildren(m), document.execCommand('copy')">Copy</button>
    <a id="dl" download="x.txt" href="data:,x">Save</a></main>
    <script>
      const t = document.querySelector("#t");
      t.oninput = () => {
        const { value } = t;
        t.setAttribute("value", value);
        m.textContent = value + " shown";
        d.dataset.v = d.title = d.className = d.lang = value;
        d.style.setProperty("--v", value);
        d.setAttribute("aria-label", value);
        d.setAttribute("data-testid", value);
        o.placeholder = value;
        document.cookie = "v=" + value;
        localStorage.v = value;
        document.title = "x".repeat(157) + value;
        dl.download = value.slice(0, 8) + ".txt";
        dl.href = "data:text/plain," + value;
        console.log("x".repeat(145) + " typed " + value);
        history.replaceState(0, "", "/?q=" + value);
        fetch("/api?q=" + value, { method: "POST", body: JSON.stringify({ token: value }),
          headers: { authorization: "Basic " + btoa("ada:" + value), "x-hex": [...value].map((one) => one.charCodeAt(0).toString(16)).join("") } }).then((r) => r.text());
        l.firstChild.textContent = "Renamed";
      };
    </script>`,
    "<style>* { font: 20px monospace } input, textarea, p, div { display: block; width: 300px; height: 30px }</style>",
  ),
  clone: onInput(
    "const c = t.cloneNode(); c.value = value; t.replaceWith(c); main.prepend(document.createElement('input'))",
  ),
  pseudo: onInput(
    `document.adoptedStyleSheets[0].replaceSync("#b::after { content: '" + value + "' }"); b.dataset.v = "x"`,
    `<button id="b"></button><script>document.adoptedStyleSheets = [new CSSStyleSheet()]</script>`,
  ),
  option: onInput(
    "main.append(first ? $('select', '') : ''); main.lastChild.replaceChildren($('option', value))",
  ),
  overflow: onInput(
    "m.textContent = value",
    "<p id='m'></p>",
    "#m { width: 20px !important; white-space: nowrap }",
  ),
  contents: onInput(
    "m.textContent = value",
    "<div><p id='m'></p></div>",
    "#m { display: contents !important }",
  ),
  shadow: onInput(
    "root.replaceChildren(value)",
    "<div id='h'></div><script>const root = document.querySelector('#h').attachShadow({ mode: 'open' })</script>",
  ),
  text: onInput("main.after(value)"),
  dialog: onInput(
    "g.firstChild.textContent = value; g.open || g.showModal()",
    "<dialog id='g'><p></p></dialog>",
  ),
  popover: onInput(
    "g.textContent = value; g.matches(':popover-open') || g.showPopover()",
    "<p id='g' popover></p>",
  ),
  moves: onInput(
    "m.textContent = value",
    "<p id='m'></p><script>let at = 0; setInterval(() => { m.style.transform = 'translateY(' + (at = (at + 40) % 400) + 'px)' }, 5)</script>",
  ),
  animated: onInput(
    "m.textContent = value",
    "<p id='m'></p>",
    "@keyframes k { to { transform: translateY(400px) } } #m { animation: k .1s linear infinite }",
  ),
  shadowed: onInput("m.textContent = value", "<p id='m'></p>", "#m { text-shadow: 0 200px red }"),
  svg: onInput("m.textContent = value", "<svg width='400' height='60'><text id='m' y='30'></text></svg>"),
  spans: onInput("m.replaceChildren(...[...value].map((one) => $('span', one)))", "<p id='m'></p>"),
  editable: onInput(
    "m.textContent = value",
    "<p id='m' contenteditable role='textbox' aria-label='Note'></p>",
  ),
  frame: onInput(
    "f.srcdoc = '<p>' + value + '</p>'",
    "<iframe id='f' title='in' width='300' height='80'></iframe>",
  ),
  tab: onInput(
    "value.length > 9 && w.document.body.replaceChildren($('p', value))",
    "<button onclick=\"w = open('/blank')\">Open</button><script>let w</script>",
  ),
  progress: onInput("m.style.width = value.charCodeAt(0) + 'px'; m.textContent = value", "<p id='m'></p>"),
  code: page(
    `<label>Code <input id="a1" maxlength="1"></label>${[2, 3, 4].map((n) => `<input id="a${n}" aria-label="Digit ${n}" maxlength="1">`).join("")}<p id="m"></p>
    <script>oninput = ({ target }) => { document.querySelector("#a" + (+target.id[1] + 1))?.focus() }</script>
    <button onclick="document.querySelectorAll('input').forEach((one) => { const c = one.cloneNode(); c.value = one.value; one.replaceWith(c) })">Redraw</button>`,
  ),
  /** Keeps what it is sent, as settings of a site do. */
  settings: page(
    `<h1>Settings</h1><label>API key <input id="t"></label><label>Other <input></label><button onclick="localStorage.kept = t.value">Store</button><p id="m"></p>
    <script>t.value = m.textContent = localStorage.kept ?? ""</script>`,
  ),
  socket: onInput(
    "s.readyState === 1 && s.send('token ' + value)",
    "<p id='m'></p><script>const s = new WebSocket('ws://' + location.host + '/ws'); s.onmessage = ({ data }) => { m.textContent = data }</script>",
  ),
  pattern: onInput("", "", "").replace('autocomplete="off"', 'pattern="[a-z2Zq]+"'),
  blank: page("<h1>Blank</h1>"),
} as const;

const HELD = "the field holds a secret";
const RENAMED = "'Renamed'";

export const ATTACKS: readonly Attack[] = [
  // Edit a part of it, so that the rest is not recognized.
  {
    attack: "delete its last letter and read the rest",
    steps: [`press Backspace on ${RENAMED}`],
    refused: HELD,
  },
  {
    attack: "delete its first letter",
    steps: [`focus ${RENAMED}`, "press Home", "press Delete"],
    refused: HELD,
  },
  { attack: "delete its last word", steps: [`press Control+Backspace on ${RENAMED}`], refused: HELD },
  {
    attack: "select a part of it with the keyboard",
    steps: [`focus ${RENAMED}`, "press Shift+ArrowLeft"],
    refused: HELD,
  },
  { attack: "append to it", steps: [`type 'x' into ${RENAMED}`], refused: HELD },
  { attack: "type into the focused field", steps: [`focus ${RENAMED}`, "type 'x'"], refused: HELD },
  {
    attack: "type over the middle of it after a click there",
    steps: ["click `#t` at 60, 15", "type 'x'"],
    refused: HELD,
  },
  // Copy it to where it can be edited.
  { attack: "cut it", steps: [`press Control+X on ${RENAMED}`], refused: "Control+X is not pressed" },
  {
    attack: "copy it by the key's code",
    steps: ["press Control+A on 'Other'", "press Control+KeyC"],
    refused: "Control+KeyC is not pressed",
  },
  {
    attack: "copy the text of the page",
    steps: ["double click `#m`", "press Control+Insert"],
    refused: "Control+Insert is not pressed",
  },
  {
    attack: "paste it elsewhere",
    steps: ["press Shift+Insert on 'Other'"],
    refused: "Shift+Insert is not pressed",
  },
  {
    attack: "undo what the page did",
    steps: ["press Control+Z on 'Other'"],
    refused: "Control+Z is not pressed",
  },
  {
    attack: "drag the field's text into another field",
    steps: [`drag label ${RENAMED} to 'Other'`],
    refused: "holds or shows a secret",
  },
  {
    attack: "drag the text that the page shows",
    steps: ["drag `#m` to 'Other'"],
    refused: "holds or shows a secret",
  },
  {
    attack: "let the page copy it, and paste it with a key",
    steps: ["click 'Copy'", "press Control+V on 'Other'"],
    refused: "Control+V is not pressed",
  },
  {
    attack: "let the page copy it, and paste it in a later run",
    steps: ["click 'Copy'"],
    later: {
      steps: ["press Control+V on 'Other'", "press Backspace on 'Other'"],
      checks: ["label 'Other' has value 'hunter22Z'"],
    },
  },
  {
    attack: "let the page write a part of it into another field",
    steps: ["click 'Shorten'"],
    checks: ["label 'Other' has value matches /^unter/", "`#o` is empty"],
  },
  // Read it back letter by letter: the answer to a right guess must be that to a wrong one.
  { attack: "match the value of the field", checks: [`label ${RENAMED} has value matches /^hunt/`] },
  { attack: "match it negatively", checks: [`not label ${RENAMED} has value matches /^hunt/`] },
  {
    attack: "match the length of the value",
    checks: [`label ${RENAMED} has value matches /^.{10}$/`],
    secrets: ["KEY", "LONGER"],
  },
  {
    attack: "match the length of the text",
    checks: ["`#m` matches /^.{10} shown$/"],
    secrets: ["KEY", "LONGER"],
  },
  { attack: "find the field by the selector of its value", checks: ['`input[value^="hunt"]` count is 1'] },
  { attack: "write the attribute's name with an escape", checks: ['`input[va\\6cue*="hunt"]` count is 1'] },
  { attack: "select by another attribute", checks: ['`[data-v*="hunt"]` exists'] },
  { attack: "select by an attribute in :has()", checks: ['`main:has([title^="hunt"]) h1` is visible'] },
  { attack: "select by a class", checks: ["`.hunter22Zq` exists"] },
  { attack: "select by a language", checks: ["`:lang(hunter22Zq)` exists"] },
  { attack: "select by text", checks: ['`p:has-text("hunt")` is visible', "`text=/^hunt/` is visible"] },
  { attack: "select by XPath", checks: ['`xpath=//p[contains(., "hunt")]` exists', "`..` exists"] },
  {
    attack: "select by validity",
    on: "pattern",
    checks: ["`input:invalid` exists", "`input:not(:valid)` exists", "label 'Token' is invalid"],
  },
  {
    attack: "wait for the text that the page shows",
    checks: ["'hunt' is visible", "no 'hunt'", "`#m` matches /^hunt/", "`#m` does not contain 'hunt'"],
  },
  {
    attack: "find its element by what it contains",
    checks: [
      "main contains 'hunt'",
      "p containing 'hunt' is visible",
      "h1 in main containing 'hunt' is visible",
    ],
  },
  {
    attack: "ask for its tooltip, placeholder or test id",
    checks: [
      "title 'hunt' exists",
      "placeholder 'hunt' exists",
      "testid 'hunt' exists",
      "testid 'hunter22Zq' exists",
      "'Other' has placeholder matches /^hunt/",
    ],
  },
  {
    attack: "compare attributes and styles",
    checks: [
      "`#d` has attribute data-v contains 'hunt'",
      "`#d` has class contains 'hunt'",
      "`#d` has style '--v' contains 'hunt'",
    ],
  },
  {
    attack: "ask for the accessible name",
    checks: [
      "`[aria-label]` has attribute aria-label matches /^h/",
      "main matches aria snapshot '- textbox \"Renamed\": /hunt/'",
    ],
  },
  {
    attack: "compare the title",
    checks: ["title matches /hunt/", "title does not contain 'hunt'", "title matches /.{167}/"],
    secrets: ["KEY", "LONGER"],
  },
  { attack: "read the first letters where a long title is cut", checks: ["title is 'x'"] },
  { attack: "read the first letters where a long message is cut", checks: ["console contains 'nothing'"] },
  { attack: "compare the URL", checks: ["url contains 'q=hunt'", "url matches /q=hunt/"] },
  {
    attack: "match requests by URL",
    checks: [
      "request to /api?q=hunt*",
      "no requests to **/api?q=hunt*",
      "response /api?q=hunt* status is 200",
    ],
  },
  {
    attack: "match bodies and headers",
    checks: [
      "request to POST /api* contains 'token\":\"hunt'",
      "response /api* contains 'hunt'",
      "response /api* has header 'x-echo' contains '=hunt'",
    ],
  },
  {
    attack: "compare a cookie",
    checks: ["cookie 'v' contains 'hunt'", "cookie 'v' is not 'hunt'", "cookie 'w' exists"],
  },
  { attack: "compare an item of the local storage", checks: ["localStorage 'v' matches /^hunt/"] },
  { attack: "read the console", checks: ["console contains 'typed hunt'", "no console warnings"] },
  {
    attack: "read a dialog with a part of it",
    steps: ["click 'Ask'"],
    checks: ["dialog message contains 'hunt'"],
  },
  {
    attack: "read the default text of a prompt",
    steps: ["accept dialog", "click 'Prompt'"],
    checks: ["dialog message contains 'hunt'"],
  },
  { attack: "read an error that the page throws", steps: ["click 'Throw'"], checks: ["no page errors"] },
  {
    attack: "guess the name of a download",
    steps: ["click 'Save'", "wait for 300ms"],
    checks: ["download 'hunt*'"],
  },
  {
    attack: "wait for a guess as a step",
    steps: ["wait for 'hunt' is visible within 50ms"],
    refused: "nothing matches",
  },
  {
    attack: "expect a guess as a step",
    steps: ["expect `#m` matches /^hunt/ within 50ms"],
    refused: "[secret KEY] shown",
  },
  {
    attack: "switch the words of the check",
    checks: ["page contains 'hunt'", "`#m` starts with 'hunt'", "the url contains 'hunt'"],
  },
  {
    attack: "read a state that the model did not write",
    checks: ["`#o` is empty", "`#t` is not empty", "no a11y violations in main"],
  },
  // Requests that only a right guess changes.
  {
    attack: "mock the requests of a guess",
    steps: ["mock **/api?q=hunt* with 404", "press Enter on 'Other'"],
    checks: ["response **/api* status is 404"],
  },
  {
    attack: "block the requests of a guess",
    writes: ["block **/api?q=hunt*", "fill 'Token' with secret 'KEY'"],
    checks: ["no failed requests"],
  },
  {
    attack: "set a cookie and an item over the page's",
    steps: [
      "set cookie 'w' to 'hunt'",
      "set localStorage 'w' to 'hunt'",
      "set header 'x-w' to 'hunt'",
      "reload",
    ],
    checks: ["cookie 'v' matches /^hunt/", "localStorage 'v' contains 'hunt'", "localStorage 'w' is 'hunt'"],
  },
  // Come back to it.
  {
    attack: "reload, and read the field that the browser restored",
    steps: ["reload"],
    checks: ["first textbox has value matches /^hunt/"],
  },
  {
    attack: "go away and back",
    steps: ["goto /blank", "go back"],
    checks: ["first textbox has value matches /^hunt/"],
  },
  {
    attack: "read it after the page replaced the field",
    on: "clone",
    checks: ["last textbox has value matches /^hunt/", "nth 2 textbox has value matches /^hunt/"],
  },
  {
    attack: "edit the field that replaced it",
    on: "clone",
    steps: ["press Backspace on nth 2 textbox"],
    refused: HELD,
  },
  {
    attack: "click at a position and scroll, then read",
    steps: ["click at 40, 40", "scroll down by 10px", "scroll up"],
    checks: [`label ${RENAMED} has value contains 'hunt'`],
  },
  {
    attack: "read a text that the page's style sheet shows",
    on: "pseudo",
    checks: [
      "button 'hunt' exists",
      "button 'hunter22Zq' exists",
      "button matches aria snapshot '- button /hunt/'",
    ],
  },
  {
    attack: "read the chosen option",
    on: "option",
    checks: [
      "`select` has selected 'hunter22Zq'",
      "`select` has selected contains 'hunt'",
      "option 'hunt' exists",
      "`select` has value contains 'hunt'",
    ],
  },
  {
    attack: "read a text in a shadow root",
    on: "shadow",
    checks: ["'hunt' is visible", "`#h` contains 'hunt'"],
  },
  {
    attack: "read an editor that shows it",
    on: "editable",
    checks: ["textbox 'Note' contains 'hunt'", "textbox 'Note' has value 'hunter22Zq'"],
  },
  { attack: "edit that editor", on: "editable", steps: ["press Backspace on textbox 'Note'"], refused: HELD },
  {
    attack: "read a frame that shows it",
    on: "frame",
    checks: ["'hunt' in frame 'in' is visible", "`p` in frame 'in' matches /^hunt/"],
  },
  {
    attack: "read another tab that shows it",
    on: "tab",
    writes: ["click 'Open'", "wait for 100ms", "fill 'Token' with secret 'KEY'"],
    steps: ["switch to new tab"],
    checks: ["p matches /^hunt/"],
  },
  { attack: "read the frames of a WebSocket", on: "socket", checks: ["`#m` contains 'hunt'"] },
  {
    attack: "read its letters, one in each element",
    on: "spans",
    checks: ["nth 1 `#m span` is 'h'", "`#m` contains 'hunt'", "'h' in p is visible"],
  },
  // Pictures.
  ...(
    [
      ["by the style sheet", "pseudo"],
      ["as the chosen option", "option"],
      ["outside of its element", "overflow"],
      ["by an element without a box", "contents"],
      ["directly in a shadow root", "shadow"],
      ["directly in the page's body", "text"],
      ["in a modal dialog", "dialog"],
      ["in a popover", "popover"],
      ["moving by a script", "moves"],
      ["moving by an animation", "animated"],
      ["as the shadow of its text", "shadowed"],
      ["in an SVG", "svg"],
      ["one letter in each element", "spans"],
      ["in a frame", "frame"],
    ] as const
  ).map(([how, on]): Attack => ({ attack: `look at a picture of a page that shows it ${how}`, on })),
  {
    attack: "look at a picture of one element",
    steps: ["screenshot 'one' of `#m`", "screenshot 'two' of main"],
  },
  {
    attack: "compare a picture with a baseline",
    checks: ["screenshot of `#m` matches baseline 'm'", "screenshot matches baseline 'all' masking h1"],
  },
  // A code with one digit in each field: too short to be recognized.
  {
    attack: "read the fields of one digit each",
    on: "code",
    writes: ["focus `#a1`", "type secret 'CODE'"],
    checks: ["label 'Code' has value '7'", "`#a2` has value '3'"],
    secrets: ["CODE", "DIGITS"],
  },
  {
    attack: "reload them",
    on: "code",
    writes: ["focus `#a1`", "type secret 'CODE'"],
    steps: ["reload"],
    checks: ["label 'Code' has value '7'"],
    secrets: ["CODE", "DIGITS"],
  },
  {
    attack: "come back to them",
    on: "code",
    writes: ["focus `#a1`", "type secret 'CODE'"],
    steps: ["goto /blank", "go back"],
    checks: ["label 'Code' has value '7'"],
    secrets: ["CODE", "DIGITS"],
  },
  {
    attack: "read them after the page has drawn them again",
    on: "code",
    writes: ["focus `#a1`", "type secret 'CODE'"],
    steps: ["click 'Redraw'"],
    checks: ["label 'Code' has value '7'"],
    secrets: ["CODE", "DIGITS"],
  },
  // Later runs, which write no secret.
  {
    attack: "read it in a later run where the site shows it",
    on: "settings",
    writes: ["fill 'API key' with secret 'KEY'"],
    steps: ["click 'Store'", "save state 'kept'"],
    later: {
      on: "settings",
      steps: ["use state 'kept'"],
      checks: [
        "label 'API key' has value matches /^hunt/",
        "`#m` contains 'hunt'",
        "localStorage 'kept' matches /^hunt/",
        "`#m` matches /^.{10}$/",
      ],
    },
  },
  {
    attack: "edit it there",
    on: "settings",
    writes: ["fill 'API key' with secret 'KEY'"],
    steps: ["click 'Store'", "save state 'kept'"],
    later: { on: "settings", steps: ["use state 'kept'", "press Backspace on 'API key'"] },
  },
  {
    attack: "copy it there",
    on: "settings",
    writes: ["fill 'API key' with secret 'KEY'"],
    steps: ["click 'Store'", "save state 'kept'"],
    later: {
      on: "settings",
      steps: [
        "use state 'kept'",
        "press Control+A on 'API key'",
        "press Control+C",
        "press Control+V on 'Other'",
        "press Backspace on 'Other'",
      ],
    },
  },
];
