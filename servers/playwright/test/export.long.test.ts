import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { connectInMemory } from "@refmcp/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { server } from "../src/server.ts";
import { ensureBrowser } from "./browser.mjs";
import { project } from "./fixture.ts";
import { ABSENCES, AROUND, CHECKS, FILE, formsSite, STEPS, type StepForm } from "./forms.ts";
import { SHOP, type Site, serve } from "./lab.ts";

const require = createRequire(import.meta.url);
/** Playwright runs all specs, more than a minute on an idle machine. */
const MAX_MS = 600_000;
let site: Site;
let folder: string;
let home: string;
let browser: Awaited<ReturnType<typeof ensureBrowser>>;

beforeAll(async () => {
  browser = await ensureBrowser();
  site = await formsSite();
  folder = await mkdtemp(join(tmpdir(), "refmcp-playwright-export-"));
  const launch = JSON.stringify({ executablePath: browser.executablePath });
  home = await project(folder, {
    "playwright.config.js": `export default { testDir: ".", workers: 2, retries: 0, timeout: 90_000, expect: { timeout: 20_000 }, use: { launchOptions: ${launch} } };\n`,
    "notes.txt": '{"log":{"entries":[]}}\n',
  });
  // npm's @playwright/test is the same module under another name.
  const other = join(home, "node_modules", "@playwright", "test");
  await mkdir(other, { recursive: true });
  await writeFile(
    join(other, "package.json"),
    '{ "name": "@playwright/test", "type": "module", "exports": "./index.js" }\n',
  );
  await writeFile(join(other, "index.js"), 'export * from "playwright/test";\n');
  const axe = dirname(require.resolve("axe-core/package.json"));
  await symlink(axe, join(home, "node_modules", "axe-core"), "junction");
});
afterAll(async () => {
  await site?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** The code from pw_export_spec. */
async function exported(
  scripts: Readonly<Record<string, { steps?: readonly string[]; assertions?: readonly string[] }>>,
): Promise<void> {
  const args = ["--executable-path", browser.executablePath, "--max-answer-chars", "80000"];
  const { client, close } = await connectInMemory(server, { args });
  try {
    for (const [title, script] of Object.entries(scripts)) {
      const given = { title, url: site.url, ...script };
      const { content, isError } = await client.callTool({
        name: "pw_export_spec",
        arguments: given,
      });
      const [block] = content;
      if (isError === true || block?.type !== "text") throw new Error(JSON.stringify(content));
      await writeFile(join(home, `${title}.spec.ts`), block.text);
    }
  } finally {
    await close();
  }
}

/** Runs the real `playwright test` on all specs; returns its report if one fails. */
async function playwrightTest(...args: string[]): Promise<{ passed: boolean; output: string }> {
  const cli = join(home, "node_modules", "playwright", "cli.js");
  const { VITEST: _, NODE_OPTIONS: __, ...rest } = process.env;
  const env = { ...rest, NO_COLOR: "1", PW_SECRET_PASSWORD: "hunter2 & more" };
  return promisify(execFile)(process.execPath, [cli, "test", "--reporter=line", ...args], {
    cwd: home,
    env,
    maxBuffer: 1e8,
  }).then(
    ({ stdout }) => ({ passed: true, output: stdout }),
    (error: { stdout?: string }) => ({
      passed: false,
      output: (error.stdout ?? String(error)).slice(0, 4_000),
    }),
  );
}

const opposite = (text: string) =>
  text.startsWith("not ") ? text.slice(4) : `not ${text.replace(/^expect /, "")}`;

const OPPOSITES = CHECKS.filter(([, , actual]) => !/matches h6|Choose one/.test(actual)).map(
  ([, fails]) => opposite(fails.replace(/ within \d+ms$/, "")),
);

const stepsOf = (forms: readonly StepForm[]) =>
  forms
    .flatMap((form) => [...form.steps, `expect ${form.effect}`])
    .map((text) => text.replace(FILE, "notes.txt"));

it(
  "specs of every form pass with the real playwright test, and fail if the check does",
  async () => {
    await exported({
      holds: { assertions: CHECKS.slice(0, 60).map(([holds]) => holds) },
      also: { assertions: [...CHECKS.slice(60), ...ABSENCES].map(([holds]) => holds) },
      opposite: { assertions: OPPOSITES.slice(0, 60) },
      others: { assertions: OPPOSITES.slice(60) },
      around: { steps: stepsOf(AROUND) },
      steps: { steps: stepsOf(STEPS) },
    });
    expect(await playwrightTest()).toEqual({
      passed: true,
      output: expect.stringContaining("6 passed"),
    });

    await exported({
      wrong: { assertions: ["h1 contains 'x' within 100ms"] },
      negated: { assertions: ["not h1 exists within 100ms"] },
      counted: { assertions: ["not li count is 4 within 100ms"] },
      bad: { steps: ["goto /?bad"], assertions: ["no critical a11y violations"] },
    });
    const failed = await playwrightTest("wrong", "negated", "counted", "bad");
    expect(failed).toEqual({ passed: false, output: expect.stringContaining("4 failed") });
  },
  MAX_MS,
);

it(
  "the spec of a session passes with the real playwright test, on any host, and fails if the page is broken",
  async () => {
    const shop = await serve({ "/": SHOP, "/next": SHOP.replace("Lamps", "Next") });
    const broken = await serve({ "/": SHOP.replace('+= "<li>', '+= "<p>'), "/next": SHOP });
    const args = ["--executable-path", browser.executablePath, "--toolsets", "default,browse"];
    const { client, close } = await connectInMemory(server, { args });
    const call = async (name: string, given: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const [block] = content;
      if (isError === true || block?.type !== "text") throw new Error(JSON.stringify(content));
      return block.text;
    };
    try {
      await call("pw_browse_open", { url: shop.url, device: "iPhone 15", steps: ["wait for h1"] });
      const steps = ["fill 'Name' with 'Desk lamp'", "click 'Missing' in nav", "click 'Add'"];
      await call("pw_browse_act", { steps });
      const assertions = [
        "li count is 1",
        "first li is 'Desk lamp'",
        "no page errors",
        "h1 is 'x' within 10ms",
      ];
      await call("pw_browse_act", { steps: ["click 'Add'"], assertions });
      await call("pw_browse_act", {
        steps: ["goto /next"],
        assertions: ["h1 is 'Next'", "no failed requests"],
      });
      const code = await call("pw_export_spec", { session: "main", title: "session" });
      expect(code).toContain(`baseURL: "${shop.url}"`);
      await writeFile(join(home, "session.spec.ts"), code);
      expect(await playwrightTest("session")).toEqual({
        passed: true,
        output: expect.stringContaining("1 passed"),
      });
      await writeFile(join(home, "session.spec.ts"), code.replace(shop.url, broken.url));
      expect((await playwrightTest("session")).output).toContain("toHaveCount");
    } finally {
      await close();
      await Promise.all([shop.close(), broken.close()]);
    }
  },
  MAX_MS,
);
