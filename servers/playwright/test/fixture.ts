import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { World } from "@refmcp/testing";
import { PNG } from "pngjs";
import { ensureBrowser } from "./browser.mjs";
import { page, serve } from "./lab.ts";

const SECRET = "hunter2-planted-secret";
const RUN = "20260728-090000-0f1x7e00";

const HOME = page(
  `<header><nav aria-label="Main"><a href="/login">Sign in</a></nav></header>
   <main><h1>Docs</h1><p>How things work.</p><button type="button" onclick="this.textContent='Thanks'">Like</button></main>`,
);
const LOGIN = page(
  `<main><h1>Sign in</h1><form action="/in"><label>Name <input name="name"></label>
   <label>Password <input type="password" name="password" oninput="document.title = this.value"></label>
   <button type="submit">Go on</button></form></main>`,
);
const IN = page("<main><h1>Welcome</h1></main>");
const CROWD = page(
  `<main><h1>Crowd</h1>${Array.from({ length: 250 }, (_, n) => `<button>Button number ${n} that says a little more than it has to, and then goes on to say how little there is to say</button>`).join("")}</main>`,
);

const CONFIG = `export default { testDir: ".", reporter: "list", workers: 1 };\n`;
const SPEC = `import { expect, test } from "playwright/test";
test("adds", () => { expect(1 + 1).toBe(2); });
test("subtracts", () => { expect(3 - 1).toBe(2); });
for (let n = 0; n < 250; n++) test(\`is one of many tests with a title that is rather long, number \${n}\`, () => {});
`;

/** An image of one color. */
export function picture(width: number, height: number, color: readonly number[]): Buffer {
  const png = new PNG({ width, height });
  for (let i = 0; i < png.data.length; i += 4) png.data.set([...color, 255], i);
  return PNG.sync.write(png);
}

/** A user's project that uses the installed Playwright. */
export async function project(folder: string, files: Record<string, string>): Promise<string> {
  const home = join(folder, "project");
  await mkdir(join(home, "node_modules"), { recursive: true });
  const installed = dirname(createRequire(import.meta.url).resolve("playwright/package.json"));
  await symlink(installed, join(home, "node_modules", "playwright"), "junction");
  await writeFile(join(home, "package.json"), '{ "type": "module", "private": true }\n');
  for (const [name, content] of Object.entries(files)) await writeFile(join(home, name), content);
  return home;
}

/** A small web site, an earlier run, and a project with specs. */
export async function world(): Promise<World> {
  const { executablePath } = await ensureBrowser();
  const folder = await mkdtemp(join(tmpdir(), "refmcp-playwright-world-"));
  const runs = join(folder, "runs");
  const site = await serve({ "/": HOME, "/login": LOGIN, "/in": IN, "/crowd": CROWD });
  const specs = await project(folder, { "playwright.config.js": CONFIG, "sums.spec.js": SPEC });
  const run = join(runs, RUN);
  await mkdir(run, { recursive: true });
  await writeFile(join(run, "home.png"), picture(320, 200, [240, 240, 250]));
  await writeFile(join(run, "home.actual.png"), picture(32, 20, [0, 128, 0]));
  await writeFile(join(run, "log.txt"), "one line of a long log\n".repeat(20_000));
  const report = { url: `${site.url}/`, passed: false };
  await writeFile(join(run, "report.json"), `${JSON.stringify(report)}\n`);
  await writeFile(join(folder, "private.txt"), SECRET);
  // In memory the server has the environment of the tests.
  process.env.PW_SECRET_PASSWORD = SECRET;
  const long = "the heading says something that is much longer than a heading should be";
  return {
    args: [
      ["--executable-path", executablePath],
      ["--output-dir", runs],
      ["--project", specs],
      ["--root", run],
    ].flat(),
    env: { PW_SECRET_PASSWORD: SECRET },
    calls: {
      pw_browse_act: { steps: ["click button 'Like'"], snapshot: true },
      pw_browse_close: {},
      pw_browse_evaluate: { expression: "document.title" },
      pw_browse_open: { url: `${site.url}/` },
      pw_compare: { url: `${site.url}/`, keep: true },
      pw_export_spec: {
        url: "http://localhost:1313",
        steps: ["click link 'Sign in'", "fill label 'Password' with secret 'PASSWORD'"],
        assertions: ["h1 contains 'Sign in'", "no console errors"],
      },
      pw_inspect_page: { url: `${site.url}/` },
      pw_list_specs: { grep: "adds|subtracts" },
      pw_run_specs: { files: ["sums.spec.js"], grep: "adds" },
      pw_run_suite: {
        tests: [
          { name: "home", url: `${site.url}/`, assertions: ["h1 is 'Docs'"] },
          {
            name: "signing in",
            url: `${site.url}/login`,
            steps: ["fill label 'Password' with secret 'PASSWORD'"],
            assertions: ["title is 'Sign in' within 200ms"],
          },
        ],
      },
      pw_run_test: { url: `${site.url}/`, assertions: ["h1 contains 'Docs'", "no console errors"] },
      pw_view_artifact: { run_id: RUN },
    },
    before: Object.fromEntries(
      ["act", "close", "evaluate"].map((name) => [
        `pw_browse_${name}`,
        [{ name: "pw_browse_open", arguments: { url: `${site.url}/` } }],
      ]),
    ),
    failures: {
      pw_browse_act: { session: "unknown", steps: ["click button 'Like'"] },
      pw_compare: { base: "none", url: `${site.url}/` },
      pw_export_spec: { url: "file:///etc/passwd", assertions: [] },
      pw_inspect_page: { url: "view-source:file:///etc/passwd" },
      pw_list_specs: { cursor: "made up" },
      pw_run_specs: { grep: "no test has this title" },
      pw_run_suite: { tests: [{ name: "slip", url: site.url, assertions: ["h1 contans 'x'"] }] },
      pw_run_test: {
        url: `${site.url}/login`,
        steps: ["fill label 'Password' with secret 'PASSWORD'", "goto http://169.254.169.254/"],
        assertions: ["title is 'x'"],
      },
      pw_view_artifact: { run_id: "../..", name: "private.txt" },
    },
    large: {
      pw_inspect_page: { url: `${site.url}/crowd`, limit: 500 },
      pw_list_specs: { limit: 1_000 },
      pw_run_test: {
        url: `${site.url}/`,
        assertions: Array.from(
          { length: 70 },
          (_, n) => `h1 is '${long} ${n} ${long} ${long}' within 1ms`,
        ),
        evidence: [],
      },
      pw_view_artifact: { run_id: RUN, name: "log.txt" },
    },
    secret: SECRET,
    async fingerprint() {
      const hash = createHash("sha256");
      for (const home of [specs, run]) {
        for (const name of (await readdir(home)).sort()) {
          if (name === "node_modules") continue;
          hash.update(name).update(await readFile(join(home, name)));
        }
      }
      return hash.digest("hex");
    },
    stable: (text) =>
      text
        .replaceAll(folder, "/world")
        .replaceAll(site.url, "http://localhost:1313")
        .replace(/\b20\d{6}-\d{6}-[0-9a-f]{8}\b/g, "20260728-090000-00000001")
        .replace(/(durationMs\\?": ?)\d+/g, "$1250")
        .replace(/(bytes\\?": ?)\d+/g, "$14096")
        .replace(/\b\d+ ms\b/g, "250 ms"),
    async dispose() {
      await site.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
