import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { networkGuardOf } from "@refmcp/boundary/forward-proxy";
import { createUrlGuard } from "@refmcp/boundary/url-guard";
import { describe, expect, it } from "vitest";
import { ensureBrowser } from "../../../test/browser.mjs";
import { page } from "../../../test/lab.ts";
import { folderOf, session, site } from "../../../test/session.ts";
import { launchOptions } from "../../../test/testers.ts";
import { launch } from "../driver/launch.ts";
import { RunFolder } from "../store/disk.ts";
import { lighthouseOf, runLighthouse } from "./lighthouse.ts";

/** A program instead of Lighthouse: it opens pages in the given browser, as the real one does. */
const FAKE = `
import { writeFileSync } from "node:fs";
const given = Object.fromEntries(process.argv.slice(3).map((one) => one.replace(/^--/, "").split("=")));
const url = process.argv[2];
const opened = async (to, tries) => {
  await fetch(\`http://127.0.0.1:\${given.port}/json/new?\${encodeURIComponent(to)}\`, { method: "PUT" });
  for (let i = 0; i < tries; i++) {
    const tabs = await (await fetch(\`http://127.0.0.1:\${given.port}/json\`)).json();
    const tab = tabs.find((one) => one.url.startsWith(to));
    // A tab that still loads is named by its URL.
    if (tab !== undefined && tab.title !== "" && !to.endsWith(tab.title)) return tab.title;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
if (url.includes("hang")) setInterval(() => {}, 1_000);
else if (url.includes("fail")) { console.error("Runtime error encountered: no page"); process.exit(1); }
else {
  const titles = [await opened(url, Infinity), await opened(new URL(url).searchParams.get("other") ?? "about:blank", 100)];
  const secrets = Object.keys(process.env).filter((name) => name.startsWith("PW_SECRET_"));
  writeFileSync(given["output-path"], JSON.stringify({
    categories: { performance: { score: 0.814 }, seo: { score: 1 }, accessibility: { score: null } },
    given, titles, secrets, page: "token-of-the-page",
  }));
}
`;

async function projectWithLighthouse(): Promise<string> {
  const project = await folderOf("project");
  const cli = join(project, "node_modules", "lighthouse", "cli");
  await mkdir(cli, { recursive: true });
  await writeFile(join(project, "package.json"), "{}");
  await writeFile(
    join(project, "node_modules", "lighthouse", "package.json"),
    JSON.stringify({ name: "lighthouse", version: "0.0.1", type: "module" }),
  );
  await writeFile(join(cli, "index.js"), FAKE);
  return project;
}

async function run(path: string, { milliseconds = 60_000, denyHosts = [] as string[] } = {}) {
  const web = await site({ "/page": page("<h1>Hi</h1>"), "/hang": "", "/fail": "" });
  const { executablePath } = await ensureBrowser();
  const folder = await folderOf("lighthouse");
  const guard = createUrlGuard({
    allowLoopback: true,
    allowHosts: [],
    denyHosts,
    allowPrivate: false,
  });
  const scores = await runLighthouse((await lighthouseOf(await projectWithLighthouse())) ?? "", {
    url: new URL(path, web.url),
    isMobile: false,
    ignoreHttpsErrors: false,
    guard: networkGuardOf(guard),
    folder: new RunFolder(folder),
    file: "lighthouse.json",
    milliseconds,
    signal: new AbortController().signal,
    redact: (text) => text.replaceAll("token-of-the-page", "[secret]"),
    launchShared: (shared) => launch({ ...launchOptions({ executablePath }), shared }),
  });
  return { scores, web, file: join(folder, "lighthouse.json") };
}

describe("Lighthouse", () => {
  it("of the project is found first, then the one that PATH has, then none", async () => {
    const [project, machine] = [await projectWithLighthouse(), await projectWithLighthouse()];
    const inside = (folder: string) =>
      join(folder, "node_modules", "lighthouse", "cli", "index.js");
    expect(await lighthouseOf(project, machine)).toBe(inside(project));
    expect(await lighthouseOf(await folderOf("empty"), machine)).toBe(inside(machine));
    expect(await lighthouseOf(undefined, "")).toBeUndefined();
  });

  it("runs in a browser that reaches the page and nothing that is denied, without our secrets", async () => {
    const denied = await site({ "*": page("<h1>No</h1>") });
    process.env.PW_SECRET_LIGHT = "bulb";
    const { scores, web, file } = await run(
      `/page?other=${encodeURIComponent(`${denied.url}/x`)}`,
      {
        denyHosts: [`127.0.0.1:${denied.port}`],
      },
    );
    expect(scores).toEqual({ performance: 81, seo: 100 });
    expect(web.hits.length).toBeGreaterThan(0);
    expect(denied.connections()).toBe(0);
    const report = JSON.parse(await readFile(file, "utf8"));
    expect(report).toMatchObject({ secrets: [], page: "[secret]" });
    expect(report.titles[0]).toBe("Docs");
    expect(report.given).toMatchObject({ preset: "desktop", output: "json" });
  });

  it("that hangs or fails costs only its scores", async () => {
    expect((await run("/hang", { milliseconds: 3_000 })).scores).toBe("it did not end within 3 s");
    expect((await run("/fail")).scores).toBe(
      "it ended with code 1: Runtime error encountered: no page",
    );
  });

  it("has its scores next to ours in an audit", async () => {
    const web = await site({ "/": page("<main><h1>Hi</h1></main>") });
    const talk = await session({ args: ["--project", await projectWithLighthouse()] });
    const { data, links } = await talk.good("pw_audit", {
      url: web.url,
      categories: ["seo", "lighthouse"],
    });
    expect(data).toMatchObject({
      devices: [{ scores: { seo: expect.any(Number) }, lighthouse: { performance: 81, seo: 100 } }],
    });
    expect(links.map(({ name }) => name)).toEqual(["audit.json", "lighthouse-desktop.json"]);
  });
});
