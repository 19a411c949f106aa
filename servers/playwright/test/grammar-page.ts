import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import { generate } from "selfsigned";
import { page, type Site, serve } from "./lab.ts";

const BODY = `
<style>
  #tip { visibility: hidden } nav:hover + #tip { visibility: visible } .clock { width: 200px; height: 20px; overflow: hidden }
  #log, #late, #loads, #size, #zone { height: 40px; margin: 0; overflow: hidden }
  #card, #done { width: 80px; height: 30px; background: #ddd }
</style>
<header>
  <h1 id="top" class="big title" style="color: rgb(1, 2, 3)">Docs &amp;   guides</h1>
  <nav aria-label="Main"><a href="/docs" title="the docs">Docs</a> <a href="/next">Next</a></nav>
  <p id="tip">A tip</p>
</header>
<main>
  <p role="status">Saved</p><p hidden id="ghost">Ghost</p><p class="clock"></p>
  <ul><li>one</li><li>two</li><li>three</li></ul><ol><li>uno</li></ol>
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
    <button type="button" onclick="say('time ' + new Date().toISOString().slice(0, 13))">Time</button>
    <button type="button" onclick="navigator.geolocation.getCurrentPosition(({ coords }) => say('at ' + coords.latitude), () => say('at no place'))">Where</button></p>
  <p id="zone"></p>
  <img src="/pixel.svg" alt="A pixel" width="10" height="10">
  <iframe title="Inner" srcdoc="<h2>Inside</h2><button onclick='this.textContent = &quot;Pressed&quot;'>Inner</button>" height="80"></iframe>
  <button type="button" aria-pressed="true">Bold</button><button type="button" aria-pressed="false">Slim</button>
  <details open><summary>More</summary><p>Text</p></details><details><summary>Less</summary></details>
  <label>Must <input id="must" required></label><img alt="Blank" width="5" height="5">
  <button type="button" aria-label="Go on" onclick="say('went on')">»</button>
  <p id="card" draggable="true" onclick="say('at ' + event.offsetX)">Card</p>
  <p id="done" ondragover="event.preventDefault()" ondrop="say('dropped')">Done</p>
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
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
  at("zone").textContent = timeZone + " " + locale;
  if (location.search !== "?busy") fetch("/api/log", { method: "POST", body: "a visit to the docs" });
  const report = document.createElement("a");
  Object.assign(report, { href: "/report.csv", download: "report.csv" }).click();
  setTimeout(() => alert("Welcome on board"), 10);
  console.log("ready to go"); fetch("/api/items?page=1"); at("none").focus();
  if (location.search === "?busy") setInterval(() => fetch("/api/items?page=2"), 20);
  if (location.search === "?bad") {
    for (const end = performance.now() + 200; performance.now() < end;);
    document.body.insertAdjacentHTML("beforeend",
      '<p style="width: 3000px; height: 5px" class="wide">x</p><img alt="" src="/missing.png"><button class="nameless"></button>');
    console.error("it hurts"); console.warn("take care"); fetch("/api/broken");
    addEventListener("load", () => setTimeout(() => { throw new Error("late and bad"); }, 50));
  }
</script>`;

const answer =
  (status: number, type: string, body: string) => (_: unknown, response: ServerResponse) =>
    void response.writeHead(status, { "content-type": type }).end(body);

/** The page that has something for every form of the language, and what it loads. */
export function grammarSite(): Promise<Site> {
  const visited = new Set<string>();
  return serve({
    "/": page(BODY),
    "/docs": page("<h1>The docs</h1>"),
    "/next": page("<h1>Next</h1>"),
    "/api/items": answer(200, "application/json", '{"items":["Lamp"]}'),
    "/api/users": answer(200, "application/json", "3 of them"),
    "/api/log": answer(200, "application/json", "{}"),
    "/report.csv": answer(200, "text/csv", "lamp,3"),
    "/api/broken": answer(500, "application/json", "{}"),
    "/echo": (request, response) =>
      void response
        .writeHead(200, { "content-type": "text/html" })
        .end(page(`<h1>${request.headers["x-test"]}</h1>`)),
    "/pixel.svg": answer(
      200,
      "image/svg+xml",
      '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>',
    ),
    // The first request for each address gets a page; for later ones the connection is closed.
    "/once": (request, response) => {
      const address = request.url ?? "";
      if (visited.has(address)) return void request.socket.destroy();
      visited.add(address);
      response.writeHead(200, { "content-type": "text/html" }).end(page("<h1>Once</h1>"));
    },
  });
}

/** An https page, with or without a picture that it loads over http. */
export async function secureSite(picture: string): Promise<Site> {
  const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
  });
  const site = await serve(
    { "/": page("<h1>Safe</h1>"), "/mixed": page(`<h1>Mixed</h1><img alt="" src="${picture}">`) },
    "127.0.0.1",
    createServer({ cert, key }),
  );
  return { ...site, url: site.url.replace("http:", "https:") };
}
