import { page } from "./lab.ts";

/** Two secrets of one length without a common character; the guesses below are right for the first. */
export const SECRETS = {
  KEY: "hunter22Zq",
  ELSE: "wvkxjy77Pm",
  LONGER: "Bd4sLg-Ce5tMh-Df6uNi-Eg7",
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

/** The pages of docs/secret-attacks.md: each shows the value of its field in one way, `mirrors` in many. */
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
        document.title = "x".repeat(198) + value;
        dl.download = value.slice(0, 8) + ".txt";
        dl.href = "data:text/plain," + value;
        console.log("x".repeat(150) + " typed " + value);
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
  widepseudo: onInput(
    `document.adoptedStyleSheets[0].replaceSync("#b { width: 10px; white-space: nowrap } #b::after { content: '" + value + "' }")`,
    `<p id="b"></p><script>document.adoptedStyleSheets = [new CSSStyleSheet()]</script>`,
  ),
  quoted: onInput(
    `document.adoptedStyleSheets[0].replaceSync("#b { quotes: '" + value + "' 'b' } #b::before { content: open-quote }")`,
    `<p id="b"></p><script>document.adoptedStyleSheets = [new CSSStyleSheet()]</script>`,
  ),
  marked: onInput(
    "m.style.listStyleType = JSON.stringify(value)",
    "<ul style='margin-left: 200px'><li id='m'>text</li></ul>",
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
    "<p id='m'></p><script>let at = 0; setInterval(() => { m.style.transform = 'translateY(' + (at = (at + 7) % 397) + 'px)' }, 5)</script>",
  ),
  animated: onInput(
    "m.textContent = value",
    "<p id='m'></p>",
    "@keyframes k { to { transform: translateY(400px) } } #m { animation: k .1s linear infinite }",
  ),
  shadowed: onInput("m.textContent = value", "<p id='m'></p>", "#m { text-shadow: 0 200px red }"),
  filtered: onInput(
    "m.textContent = value",
    "<div style='filter: drop-shadow(0 200px red)'><p id='m'></p></div>",
  ),
  used: onInput(
    "m.textContent = value",
    "<svg width='400' height='260'><text id='m' y='30'></text><use href='#m' y='200'></use></svg>",
  ),
  svg: onInput(
    "m.textContent = value",
    "<svg width='400' height='60'><text id='m' y='30'></text></svg>",
  ),
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
    "<button onclick=\"w = window.open('/blank')\">Open</button><script>let w</script>",
  ),
  progress: onInput(
    "m.style.width = value.charCodeAt(0) + 'px'; m.textContent = value",
    "<p id='m'></p>",
  ),
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
  /** Shows it in what names elements, in what is wrong with a page, and where a long text is cut. */
  named: onInput(
    `const x = "x".repeat(98); m.textContent = value; b.textContent = value; b.dataset.testid = value; h.textContent = x + value;
    i.id = i.className = value; a.textContent = "x".repeat(38) + value; a.setAttribute("role", x + x + value); document.title = x + x + "xx" + value;
    c.href = x + x + "xx" + value; console.error("failed for " + value); document.documentElement.lang = x + x + value`,
    `<h2 id="h">Long</h2><p id="m">text</p><button id="b">Go</button><a id="a">link</a><img id="i" src="/none.png"><link id="c" rel="canonical" href="x">`,
  ),
  blank: page("<h1>Blank</h1>"),
} as const;
