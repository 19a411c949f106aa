// `pnpm views [SERVER …]`: shows the servers' views with realistic data in the official host for views (ext-apps' bridge),
// on a page of this machine. Views can call their server there, as in a chat.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { build as bundle } from "esbuild";
import { build, install, ROOT } from "./lib/setup.mjs";

/** @typedef {{ name: string, arguments: Record<string, unknown> }} Call */
/** @typedef {{ server: string, title: string, args: string[], before: Call[] | undefined, call: Call }} View */

await install();
await build();
const folder = await mkdtemp(join(tmpdir(), "refmcp-views-"));
const ORDERS = `WITH RECURSIVE t(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM t WHERE n < 4999)
  SELECT 10001 + n AS id, datetime('2025-01-01 08:12:00', (n * 101) || ' minutes') AS placed_at,
    'Customer ' || (n * 7919 % 97) AS customer, round(12 + n * 7919 % 900 / 7.0 + n / 400.0, 2) AS total FROM t`;
const SHOP = ["--db-path", join(folder, "shop.db"), "--allow-write", "--allow-ddl"];
const MEMORY = ["--file", join(folder, "memory.db")];
const PEOPLE = Array.from({ length: 120 }, (_, n) => ({
  name: `Person ${n}`,
  entityType: n % 9 === 0 ? "company" : "person",
  observations: [`Joined in ${2005 + (n % 20)}`],
}));
const KNOWS = PEOPLE.slice(1).map(({ name }, n) => ({
  from: name,
  to: `Person ${Math.floor((n + 1) / 3)}`,
  relationType: n % 4 === 0 ? "works for" : "knows",
}));
const PEOPLE_KNOW = [
  { name: "create_entities", arguments: { entities: PEOPLE } },
  { name: "create_relations", arguments: { relations: KNOWS } },
];

const shop = createServer();
await new Promise((resolve) => shop.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = /** @type {import("node:net").AddressInfo} */ (shop.address());
const origin = `http://127.0.0.1:${address.port}`;

const ORDERED = [`CREATE TABLE IF NOT EXISTS orders AS ${ORDERS}`];
const SHOP_HAS_ORDERS = [{ name: "execute", arguments: { statements: ORDERED } }];

/** @type {(server: string, title: string, args: string[], name: string, input: Record<string, unknown>, before?: Call[]) => View} */
const view = (server, title, args, name, input, before) => {
  return { server, title, args, before, call: { name, arguments: input } };
};
const sqlite = (/** @type {string} */ title, /** @type {string} */ query, max_rows = 200) =>
  view("sqlite", title, SHOP, "read_query", { query, max_rows }, SHOP_HAS_ORDERS);
const YEAR = `SELECT date(placed_at) AS day, round(sum(total), 2) AS revenue FROM orders GROUP BY 1`;
const CHECKS = { url: `${origin}/page`, assertions: ["pre is visible", "h1 is 'Elsewhere'"] };
const DROP = { statements: ["DROP TABLE orders"] };
const DIFF = { target: "HEAD~20..HEAD" };
const PERSON = { names: ["Person 4"], depth: 1 };
const REPORT = ["--allow-host", "127.0.0.1", folder];
const VIEWS = [
  sqlite("5,000 rows with dates", "SELECT * FROM orders"),
  sqlite("A year, which the button Chart draws", YEAR, 400),
  view("sqlite", "A question before rows are lost", SHOP, "execute", DROP, SHOP_HAS_ORDERS),
  view("git", "The last 20 commits of this repository as one diff", [ROOT], "git_diff", DIFF),
  view("memory", "A graph of 120 entities", MEMORY, "read_graph", {}, PEOPLE_KNOW),
  view("memory", "One entity with its neighbors", MEMORY, "open_nodes", PERSON, PEOPLE_KNOW),
  view("playwright", "A report with a failed check", REPORT, "pw_run_test", CHECKS),
];
const wanted = process.argv.slice(2);
const views = VIEWS.filter(({ server }) => wanted.length === 0 || wanted.includes(server));

/** @type {Map<string, Promise<Client>>} one process for each server */
const clients = new Map();
/** @param {View} view */
function clientOf({ server, args }) {
  const connecting = clients.get(server);
  if (connecting !== undefined) return connecting;
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const client = new Client({ name: "pnpm-views", version: "1" }, { capabilities: { extensions } });
  const bin = join(ROOT, "servers", server, "dist", "bin.js");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, ...args],
    stderr: "inherit",
  });
  const connected = client.connect(transport).then(() => client);
  clients.set(server, connected);
  return connected;
}

/** The result of a view's call, once. @type {Map<View, Promise<{ html: string, result: object }>>} */
const results = new Map();
/** @param {View} view */
async function shownOf(view) {
  const client = await clientOf(view);
  for (const call of view.before ?? []) await client.callTool(call);
  const result = await client.callTool(view.call);
  const { tools } = await client.listTools();
  const { ui } = Object(tools.find(({ name }) => name === view.call.name)?._meta);
  const { contents } = await client.readResource({ uri: ui.resourceUri });
  const [page] = contents;
  return { html: page !== undefined && "text" in page ? page.text : "", result };
}

const { outputFiles } = await bundle({
  entryPoints: [join(ROOT, "test", "apps", "page", "host-page.ts")],
  bundle: true,
  write: false,
  format: "iife",
  logLevel: "warning",
});
const hostScript = outputFiles[0]?.text ?? "";
/** @param {unknown} value JSON that cannot end a script */
const literal = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
const start = `<!doctype html><meta charset="utf-8"><title>Views</title><body style="font:15px system-ui;margin:24px">
<p><select id="theme"><option>light<option>dark</select> <select id="width"><option>720<option>360<option>1100</select></p>
${views.map(({ server, title }, n) => `<h2 style="font-size:16px">${server}: ${title}</h2><iframe data-n="${n}" style="width:100%;height:640px;border:1px solid #ccc"></iframe>`).join("")}
<script>const draw=()=>document.querySelectorAll("iframe").forEach((frame)=>{frame.src="/view/"+frame.dataset.n+"?theme="+theme.value+"&width="+width.value});theme.onchange=width.onchange=draw;draw()</script>`;

shop.on("request", async (request, response) => {
  const url = new URL(request.url ?? "/", origin);
  const [, kind, number] = url.pathname.split("/");
  const view = views[Number(number)];
  // A page of another site must not reach the servers through a name that points here.
  if (request.headers.host !== new URL(origin).host) return void response.writeHead(403).end();
  response.setHeader("content-type", "text/html; charset=utf-8");
  try {
    if (kind === "page") {
      const text = await readFile(join(ROOT, "docs", "http.md"), "utf8");
      response.end(
        `<!doctype html><title>Serving over HTTP</title><main><h1>HTTP</h1><pre>${text.replaceAll("<", "&lt;")}</pre></main>`,
      );
    } else if (view === undefined) response.end(start);
    else if (kind === "view") {
      if (!results.has(view)) results.set(view, shownOf(view));
      const { html, result } = (await results.get(view)) ?? {};
      const look = {
        theme: url.searchParams.get("theme"),
        width: Number(url.searchParams.get("width")),
      };
      response.end(`<!doctype html><meta charset="utf-8"><body><script>${hostScript.replaceAll("</script", "<\\/script")}
window.fromView=async(method,params)=>(await fetch("/ask/${number}",{method:"POST",body:JSON.stringify({method,params})})).json();
window.showView(${[html, look, view.call.arguments, result].map(literal).join(",")})</script>`);
    } else {
      // Only this page's own scripts send this header.
      if (request.headers.origin !== origin) return void response.writeHead(403).end();
      let body = "";
      for await (const chunk of request) body += chunk;
      const { method, params } = JSON.parse(body);
      const client = await clientOf(view);
      const answer =
        method === "tools/call"
          ? await client.callTool(params)
          : method === "resources/read"
            ? await client.readResource(params)
            : {};
      response.end(JSON.stringify(answer));
    }
  } catch (error) {
    response.writeHead(500).end(`<pre>${String(error).replaceAll("<", "&lt;")}</pre>`);
  }
});
process.stdout.write(`The views are on ${origin}/ until you press Ctrl+C.\n`);
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.on(signal, async () => {
    for (const client of clients.values()) await (await client).close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit(0);
  });
