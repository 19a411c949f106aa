import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBrowser } from "./browser.mjs";
import { project } from "./fixture.ts";
import { page } from "./lab.ts";
import { answerOf, folderOf, type Session, session, site } from "./session.ts";

const HOME = page(
  `<h1>Tasks</h1><form id="new" onsubmit="return false"><label>Task <input></label>
   <button type="button" data-testid="add" onclick="document.querySelector('ul').innerHTML += '<li>' + document.querySelector('input').value">Add</button></form>
   <nav><a href="#all">All</a> <a href="#done">Done</a></nav><ul></ul>`,
);
let talk: Session;
let home: string;
let html = HOME;

beforeAll(async () => {
  const web = await site({
    "/": (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(html),
  });
  const { executablePath } = await ensureBrowser();
  home = await project(await folderOf("heal"), {
    "playwright.config.js": `export default { workers: 1, timeout: 60_000, expect: { timeout: 1_000 }, use: { launchOptions: ${JSON.stringify({ executablePath })} } };\n`,
    "tasks-page.js": `export class TasksPage {
  constructor(page) {
    this.page = page;
    this.field = page.getByLabel('Task');
    this.add = page.locator('#new').getByRole('button', {
      name: 'Add',
    });
  }
}
`,
    "tasks.spec.js": `import { expect, test } from "playwright/test";
import { TasksPage } from "./tasks-page.js";
test("adds a task", async ({ page }) => {
  await page.goto("${web.url}");
  const tasks = new TasksPage(page);
  await tasks.field.fill("Buy milk");
  await tasks.add.click();
  await expect(page.getByRole("listitem")).toHaveText("Buy milk");
});
test("has a title", async ({ page }) => {
  await page.goto("${web.url}");
  await expect(page.getByRole("heading", { name: "Tasks" })).toBeVisible();
});
`,
  });
  talk = await session({ args: ["--project", home, "--timeout-ms", "240000"] });
});

/** More than a minute on a busy machine. */
async function heal(given: Record<string, unknown>) {
  const result = await talk.connected.client.callTool(
    { name: "pw_heal", arguments: given },
    { timeout: 240_000 },
  );
  return answerOf(result);
}

const specsOf = () =>
  Promise.all(["tasks-page.js", "tasks.spec.js"].map((name) => readFile(join(home, name), "utf8")));

describe("pw_heal of a spec", { timeout: 600_000 }, () => {
  it("changes the locators where they are written, with a patch that can be applied, and writes it if asked", async () => {
    html = HOME;
    const green = await heal({ file: "tasks.spec.js:3" });
    expect(green.data).toMatchObject({ outcome: "passes", changes: [], runs: 1 });
    html = HOME.replace(">Add<", ">Insert<").replace("<label>Task ", "<label>What to do ");
    const before = await specsOf();
    const healed = await heal({ file: "tasks.spec.js:3" });
    expect(healed.data, healed.text).toMatchObject({
      outcome: "healed",
      applied: false,
      changes: [
        {
          where: "tasks-page.js:4",
          before: "getByLabel('Task')",
          after: "getByLabel('What to do')",
        },
        { where: "tasks-page.js:5", after: "getByRole('button', { name: 'Insert' })" },
      ],
    });
    expect(healed.data["red_runs"]).toHaveLength(2);
    expect(await specsOf(), "nothing is written unless asked").toEqual(before);
    const applied = await heal({ file: "tasks.spec.js:3", apply: true });
    expect(applied.data, applied.text).toMatchObject({
      outcome: "healed",
      applied: true,
      patch: healed.data["patch"],
    });
    const [pageObject, spec] = await specsOf();
    expect(spec).toBe(before[1]);
    expect(pageObject).toContain("this.field = page.getByLabel('What to do');");
    expect(pageObject).toContain(
      "this.add = page.locator('#new').getByRole('button', { name: 'Insert' });",
    );
    // The patch is what was written.
    const copy = await folderOf("patched");
    await writeFile(join(copy, "tasks-page.js"), before[0] ?? "");
    await writeFile(join(copy, "it.patch"), String(healed.data["patch"]));
    execFileSync("git", ["apply", "it.patch"], { cwd: copy });
    expect(await readFile(join(copy, "tasks-page.js"), "utf8")).toBe(pageObject);
    await writeFile(join(home, "tasks-page.js"), before[0] ?? "");
  });

  it("asks the user about a text that a check expects, and writes nothing", async () => {
    html = HOME;
    expect((await heal({ file: "tasks.spec.js:10" })).data["outcome"]).toBe("passes");
    html = HOME.replace("<h1>Tasks", "<h1>To do");
    const before = await specsOf();
    const { data, text } = await heal({ file: "tasks.spec.js:10", apply: true });
    expect(data, text).toMatchObject({
      outcome: "question",
      changes: [],
      questions: [{ where: "tasks.spec.js:12", after: 'getByRole("heading", { name: "To do" })' }],
    });
    expect(await specsOf()).toEqual(before);
  });

  it("calls a missing feature a defect", async () => {
    html = HOME.replace(/<button[\s\S]*?<\/button>/, "");
    const { data } = await heal({ file: "tasks.spec.js:3", apply: true });
    expect(data).toMatchObject({ outcome: "defect", changes: [] });
    expect(data["summary"]).toMatch(/^This looks like a real defect: TimeoutError: locator.click/);
  });
});
