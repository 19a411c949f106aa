import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { picture } from "../../test/fixture.ts";
import { type Handler, page, type Site, secureSite } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";
import type { Finding } from "../browser/audit/audit.ts";
import { RULES } from "../browser/audit/rules.ts";

const SECURE = {
  "content-security-policy": "default-src 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "strict-origin-when-cross-origin",
  "permissions-policy": "camera=()",
  "cache-control": "max-age=3600",
};
const sends =
  (body: string | Buffer, headers: Record<string, string | string[]>, status = 200): Handler =>
  (_request, response: ServerResponse) => {
    response
      .writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers })
      .end(body);
  };
const HEAD = `<meta name="viewport" content="width=device-width"><meta name="description" content="All about lamps">
  <link rel="canonical" href="http://shop.example/">`;

let web: Site;
let talk: Session;
beforeAll(async () => {
  web = await site({
    "/good": sends(page('<main><h1>Lamps</h1><a href="/tall">Tall lamps</a></main>', HEAD), {
      ...SECURE,
      "set-cookie": "sid=1; HttpOnly; SameSite=Lax",
    }),
    "/bad": sends(
      `<html><head><meta name="robots" content="noindex"><link rel="canonical" href="/relative">
        <link rel="alternate" hreflang="english" href="/en"></head><body>
        <img id="gone" src="/gone.png"><a href="javascript:void 0">Go</a><a href="/x">read more</a><input>
        <script type="application/ld+json">{"@context": </script>
        <script>console.error("it hurts"); setTimeout(() => { throw new Error("lamp") })</script>
        <img src="/big.png" alt="Lamp" width="200" height="60">
        <script>const old = new XMLHttpRequest(); old.open("GET", "/plain.js", false); old.send();</script>
        <script src="/plain.js"></script></body></html>`,
      {
        "content-type": "text/html; charset=iso-8859-1",
        "content-security-policy": "script-src 'self' 'unsafe-inline'",
        "referrer-policy": "unsafe-url",
        server: "lamps/1.2.3",
        "set-cookie": ["session=hidden-value; Path=/", "theme=dark; SameSite=Strict"],
      },
      500,
    ),
    "/big.png": sends(picture(900, 900, [200, 30, 30]), { "content-type": "image/png", etag: "1" }),
    "/plain.js": sends(`// ${"x".repeat(5_000)}`, { "content-type": "text/javascript" }),
    "/robots.txt": sends("User-agent: *\nDisallow: /bad\nAllow: /\n", {
      "content-type": "text/plain",
    }),
    "/slow":
      page(`<main><h1>Slow</h1><p id="moved" style="height: 400px">Text</p><button>Slow</button></main>
      <script>
        document.querySelector("button").onclick = () => { const end = performance.now() + 600; while (performance.now() < end); };
        addEventListener("load", () => setTimeout(() => {
          document.querySelector("h1").insertAdjacentHTML("afterend", '<div style="height: 300px">Late</div>');
        }, 100));
      </script>`),
    "/crowd": page(
      `${'<a href="javascript:go()">long name</a><img>'.repeat(300).replaceAll("name", "name ".repeat(60))}
      <script>for (let i = 0; i < 50; i++) console.error("problem ".repeat(100) + i)</script>`,
    ),
    "/secret":
      page(`<main><h1>Secret</h1><label>Password <input></label><p id="out"></p></main><script>
      document.querySelector("input").oninput = ({ target }) => {
        document.title = target.value;
        document.querySelector("#out").innerHTML = '<a href="javascript:1">' + target.value + '</a>';
        console.error("typed " + target.value);
      }</script>`),
  });
  process.env.PW_SECRET_LAMP = "hunter22Zq";
  talk = await session();
});

async function audit(args: Record<string, unknown>) {
  const { data, links } = await talk.good("pw_audit", args);
  const findings: Finding[] = Object(data).findings;
  const devices: {
    device: string;
    scores: Record<string, number>;
    vitals?: Record<string, number>;
  }[] = Object(data).devices;
  const file = links.find(({ name }) => name === "audit.json")?.uri ?? "";
  const full = await readFile(fileURLToPath(file), "utf8");
  const every: Finding[] = JSON.parse(full).audits[0].findings;
  return { data, devices, findings, full, every };
}
const rulesOf = (findings: readonly Finding[], category: string) =>
  findings.flatMap((one) => (one.category === category ? one.rule : [])).sort();
const ALL = ["accessibility", "weight", "seo", "headers", "best_practices"];

describe("pw_audit", () => {
  it("gives a page without findings 100 in each category", async () => {
    const { devices, findings } = await audit({ url: `${web.url}/good`, categories: ALL });
    expect(findings).toEqual([]);
    expect(devices).toEqual([
      {
        device: "desktop",
        scores: Object.fromEntries(ALL.map((category) => [category, 100])),
        weight: expect.anything(),
      },
    ]);
  });

  it("finds each defect, names its element, and says what to change", async () => {
    const { every: findings } = await audit({ url: `${web.url}/bad`, categories: ALL });
    expect(rulesOf(findings, "seo")).toEqual(
      ["canonical", "crawlable", "description", "heading", "hreflang", "image texts", "language"]
        .concat([
          "link addresses",
          "link texts",
          "robots.txt",
          "status",
          "structured data",
          "title",
        ])
        .sort(),
    );
    expect(rulesOf(findings, "headers")).toEqual(
      Object.keys(RULES.headers)
        // Those need https.
        .filter((rule) => !["hsts", "cookie Secure", "mixed content"].includes(rule))
        .sort(),
    );
    expect(rulesOf(findings, "best_practices")).toEqual([
      "broken images",
      "charset",
      "console errors",
      "deprecations",
      "doctype",
      "failed requests",
      "image aspect",
      "image size",
      "page errors",
      "viewport",
    ]);
    expect(rulesOf(findings, "weight")).toEqual(["caching", "compression"]);
    expect(rulesOf(findings, "accessibility")).toEqual(
      expect.arrayContaining([
        "image-alt (critical)",
        "label (critical)",
        "html-has-lang (serious)",
      ]),
    );
    const where = (rule: string) => findings.find((one) => one.rule === rule)?.where;
    expect(where("link addresses")).toEqual(["link 'Go'"]);
    expect(where("label (critical)")).toEqual(["textbox"]);
    expect(where("csp")).toEqual(["'unsafe-inline'"]);
    expect(where("robots.txt")).toEqual(["robots.txt disallows this page: /bad"]);
    expect(where("cookie HttpOnly")).toEqual(["session"]);
    expect(where("cookie SameSite")).toEqual(["session"]);
    expect(where("server version")).toEqual(["server: lamps/1.2.3"]);
    // The targets work in other calls.
    const { data } = await talk.good("pw_run_test", {
      url: `${web.url}/bad`,
      assertions: ["link 'Go' exists", `${where("broken images")?.[0]} exists`],
    });
    expect(data.passed).toBe(true);
  });

  it("scores the same page equally, and costs add up to what is missing", async () => {
    const [first, second] = [
      await audit({ url: `${web.url}/bad`, categories: ALL }),
      await audit({ url: `${web.url}/bad`, categories: ALL }),
    ];
    expect(second.findings).toEqual(first.findings);
    expect(second.devices).toEqual(first.devices);
    for (const [category, score] of Object.entries(first.devices[0]?.scores ?? {})) {
      const costs = first.every.filter((one) => one.category === category).map((one) => one.costs);
      const missing = costs.reduce((sum, one) => sum + one, 0);
      expect(Math.abs(100 - score - missing)).toBeLessThan(1.5);
    }
  });

  it("measures vitals of three loads, and inp after the steps, with the elements", async () => {
    const { devices, findings, data } = await audit({
      url: `${web.url}/slow`,
      steps: ["click button 'Slow'"],
      categories: ["vitals"],
    });
    expect(data.notes).toBeUndefined();
    const vitals = devices[0]?.vitals ?? {};
    expect(Object.keys(vitals).sort()).toEqual(["cls", "fcp", "inp", "lcp", "tbt", "ttfb"]);
    expect(vitals.inp).toBeGreaterThanOrEqual(600);
    const where = (rule: string) => findings.find((one) => one.rule === rule)?.where;
    expect(where("inp")).toEqual(["button 'Slow'"]);
    expect(where("cls")).toEqual(["text 'Text'"]);
    expect(web.hits.filter((hit) => hit === "/slow")).toHaveLength(3);
  });

  it("answers in at most 6,000 characters; the artifact has the rest", async () => {
    const { data, findings, full } = await audit({
      url: `${web.url}/crowd`,
      devices: ["desktop", "iPhone 15"],
      categories: ALL,
    });
    expect(JSON.stringify(data).length).toBeLessThanOrEqual(6_000);
    expect(findings.length).toBeGreaterThan(5);
    expect(findings.find(({ rule }) => rule === "image-alt (critical)")).toMatchObject({
      count: 200,
    });
    expect(JSON.parse(full).audits).toHaveLength(2);
    expect(full.length).toBeGreaterThan(20_000);
  });

  it("applies the rules for https to https pages only", async () => {
    const secure = await secureSite(`${web.url}/big.png`);
    const safe = await session({ args: ["--ignore-https-errors"] });
    const { data } = await safe.good("pw_audit", {
      url: `${secure.url}/mixed`,
      categories: ["headers"],
    });
    await secure.close();
    expect(Object(data).findings).toContainEqual(
      expect.objectContaining({ rule: "mixed content", where: [`${web.url}/big.png`] }),
    );
  });

  it("hides a secret that the page shows", async () => {
    const { data, full } = await audit({
      url: `${web.url}/secret`,
      steps: ["fill 'Password' with secret 'LAMP'"],
      categories: ALL,
    });
    for (const text of [JSON.stringify(data), full]) {
      expect(text).toContain("[secret LAMP]");
      expect(text).not.toMatch(/hunt|unte|nter|22Zq/);
    }
  });

  it("audits the page where a step failed, and says so", async () => {
    const { data } = await audit({
      url: `${web.url}/good`,
      steps: ["press Enter on 'None'"],
      categories: ["seo"],
    });
    expect(data.failed_step).toMatch(/^press Enter on 'None': nothing matches 'None'/);
  });

  it("names the package where Lighthouse is asked for and not installed", async () => {
    const { data, devices } = await audit({
      url: `${web.url}/good`,
      categories: ["seo", "lighthouse"],
    });
    expect(data.notes).toEqual([
      expect.stringMatching(/^lighthouse is not installed: npm install -D lighthouse/),
    ]);
    expect(devices[0]).not.toHaveProperty("lighthouse");
  });

  it("refuses an unknown category, a device without scripts and an unreachable page", async () => {
    expect((await talk.call("pw_audit", { url: web.url, categories: ["speed"] })).text).toContain(
      "accessibility",
    );
    const still = await talk.call("pw_audit", { url: web.url, devices: ["dark + no javascript"] });
    expect(still).toMatchObject({ isError: true, text: expect.stringContaining("needs scripts") });
    const answer = await talk.call("pw_audit", { url: "http://127.0.0.1:1/" });
    expect(answer).toMatchObject({
      isError: true,
      text: expect.stringContaining("cannot be reached"),
    });
  });
});
