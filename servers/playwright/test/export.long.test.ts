import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
import { project } from "./fixture.ts";
import { ABSENCES, AROUND, CHECKS, formsSite, playing, STEPS } from "./forms.ts";
import type { Site } from "./lab.ts";
import { openedFirst, session } from "./session.ts";

/** Playwright runs all specs, more than a minute on an idle machine. */
const MAX_MS = 600_000;
const talk = openedFirst(() => session({ args: ["--max-answer-chars", "80000"] }));
let web: Site;
let home: string;

beforeAll(async () => {
  web = await formsSite();
  const launch = JSON.stringify(await ensureBrowser());
  home = await project(talk.folder, {
    "playwright.config.js": `export default { testDir: ".", workers: 2, retries: 0, timeout: 90_000, expect: { timeout: 20_000 }, use: { launchOptions: ${launch} } };\n`,
    "notes.txt": '{"log":{"entries":[]}}\n',
  });
  // npm's @playwright/test is the same module under another name.
  const other = join(home, "node_modules", "@playwright", "test");
  await mkdir(other, { recursive: true });
  const described = { name: "@playwright/test", type: "module", exports: "./index.js" };
  await writeFile(join(other, "package.json"), JSON.stringify(described));
  await writeFile(join(other, "index.js"), 'export * from "playwright/test";\n');
});

/** The code from pw_export_spec. */
async function exported(
  scripts: Readonly<Record<string, { steps?: readonly string[]; assertions?: readonly string[] }>>,
): Promise<void> {
  for (const [title, script] of Object.entries(scripts)) {
    const { text } = await talk.good("pw_export_spec", { title, url: web.url, ...script });
    const lines = text.split("\n");
    const spec = title.startsWith("not") ? lines.map(negated) : lines;
    await writeFile(join(home, `${title}.spec.ts`), spec.join("\n"));
  }
}

/** Runs the real `playwright test` on all specs; returns its report if one fails. */
async function playwrightTest(...args: string[]): Promise<{ passed: boolean; output: string }> {
  const cli = join(home, "node_modules", "playwright", "cli.js");
  const { VITEST: _, NODE_OPTIONS: __, ...rest } = process.env;
  const env = { ...rest, NO_COLOR: "1", PW_SECRET_PASSWORD: "hunter2 & more" };
  const options = { cwd: home, env, maxBuffer: 1e8 };
  const running = promisify(execFile)(
    process.execPath,
    [cli, "test", "--reporter=line", ...args],
    options,
  );
  return running.then(
    ({ stdout }) => ({ passed: true, output: stdout }),
    (error) => ({ passed: false, output: String(Object(error).stdout ?? error).slice(0, 4_000) }),
  );
}

/** Checks that fail: in their specs, each is negated. One of a table is two checks. */
const FAILING = CHECKS.filter(([, , actual]) => !/matches h6|Choose one/.test(actual))
  .map(([, fails]) => fails.replace(/ within \d+ms$/, ""))
  .filter((fails) => !fails.startsWith("table"));
const WITHOUT_TABS = AROUND.filter((form) => !/ tab\b/.test(form.join()));
const negated = (line: string) =>
  line.replace(
    /^(\s*(?:await )?expect.*\))\.(not\.)?(?=to[A-Z]\w*\()/,
    (_, on: string, not = "") => (not === "" ? `${on}.not.` : `${on}.`),
  );

it(
  "specs of every form pass with the real playwright test, and fail if the check does",
  async () => {
    await exported({
      holds: { assertions: CHECKS.slice(0, 60).map(([holds]) => holds) },
      also: { assertions: [...CHECKS.slice(60), ...ABSENCES].map(([holds]) => holds) },
      not: { assertions: FAILING.slice(0, 60) },
      notThese: { assertions: FAILING.slice(60) },
      // A spec cannot have a step that switches tabs.
      around: { steps: playing(WITHOUT_TABS, "notes.txt") },
      steps: { steps: playing(STEPS, "notes.txt") },
    });
    expect(await playwrightTest()).toEqual({
      passed: true,
      output: expect.stringContaining("6 passed"),
    });

    await exported({
      wrong: { assertions: ["h1 contains 'x' within 100ms"] },
      negated: { assertions: ["h1 does not exist within 100ms"] },
      counted: { assertions: ["li count is 3 within 100ms"] },
      bad: { steps: ["goto /?bad"], assertions: ["no console errors"] },
    });
    const failed = await playwrightTest("wrong", "negated", "counted", "bad");
    expect(failed).toEqual({ passed: false, output: expect.stringContaining("4 failed") });
  },
  MAX_MS,
);
