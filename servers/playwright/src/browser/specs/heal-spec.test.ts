import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBrowser } from "../../../test/browser.mjs";
import { project } from "../../../test/fixture.ts";
import { page } from "../../../test/lab.ts";
import { answerOf, folderOf, type Session, session, site } from "../../../test/session.ts";

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

describe("pw_heal of a spec", () => {
  it("heals", async () => {
    html = HOME;
    const green = await talk.good("pw_heal", { file: "tasks.spec.js:3" });
    console.log(green.text);
    html = HOME.replace(">Add<", ">Insert<").replace("<label>Task ", "<label>What to do ");
    const healed = await heal({ file: "tasks.spec.js:3" });
    console.log(healed.text);
    console.log(JSON.stringify(healed.data, undefined, 1));
    void [readFile, writeFile, join, expect];
  });
});
