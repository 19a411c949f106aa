import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { git } from "../../servers/git/test/fixture.ts";
import { serverBin } from "../servers.ts";
import { connectApps, expectHarmless, HOSTILE, type ShownView, useViews } from "./host.ts";

const show = useViews();
let folder = "";
let client: Client;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "refmcp-apps-")));
});
afterEach(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

async function shownFor(
  name: string,
  args: Record<string, unknown>,
  theme?: "dark",
): Promise<ShownView> {
  const call = { name, arguments: args };
  return show(client, call, await client.callTool(call), theme);
}

/** The texts of one kind of lines in a diff, in order. */
const lines = ({ view }: ShownView, kind: "added" | "removed") =>
  view.locator(`tr.${kind} td.code`).allTextContents();

describe("the diff of an edit", () => {
  const file = () => join(folder, "a.txt");
  const edit = {
    path: "a.txt",
    edits: [{ oldText: "-- two", newText: `++ ${HOSTILE}` }],
    dryRun: true,
  };
  beforeEach(async () => {
    writeFileSync(file(), "one\n-- two\nthree\n");
    client = await connectApps(serverBin("filesystem"), [
      `--journal-dir=${folder}-journal`,
      folder,
    ]);
  });
  afterEach(() => rmSync(`${folder}-journal`, { recursive: true, force: true }));

  it("is previewed, applied once by the user's click, and reported to the model", async () => {
    const app = await shownFor("edit_file", edit);
    await app.view.getByRole("status").filter({ hasText: "nothing was changed" }).waitFor();
    expect(await lines(app, "removed")).toEqual(["-- two"]);
    expect(await lines(app, "added")).toEqual([`++ ${HOSTILE}`]);
    await expectHarmless(app);
    const apply = app.view.getByRole("button", { name: "Apply this change" });
    // A click by a script is not the user's confirmation.
    await apply.evaluate((button) => Reflect.get(button, "click").call(button));
    expect(app.asked).toEqual([]);
    await apply.focus();
    await app.page.keyboard.press("Enter");
    await app.view.getByRole("status").filter({ hasText: "Replaced 1 place" }).waitFor();
    expect(readFileSync(file(), "utf8")).toBe(`one\n++ ${HOSTILE}\nthree\n`);
    await expect.poll(() => app.asked.length).toBe(2);
    expect(app.asked[0]?.params).toEqual({
      name: "edit_file",
      arguments: { ...edit, dryRun: false },
    });
    expect(JSON.stringify(app.asked[1])).toContain("The user chose to apply");
    expect(await apply.count()).toBe(0);
    await app.page.close();
  });

  it("has no button after it was applied or has failed", async () => {
    const app = await shownFor("edit_file", { ...edit, dryRun: false });
    await app.view.getByRole("status").filter({ hasText: "Replaced 1 place" }).waitFor();
    expect(await app.view.getByRole("button", { name: "Apply" }).count()).toBe(0);
    await app.page.close();
    const failed = await shownFor("edit_file", {
      ...edit,
      edits: [{ oldText: "four", newText: "5" }],
    });
    await failed.view.getByRole("alert").waitFor();
    expect(await failed.view.getByRole("button").count()).toBe(0);
    await failed.page.close();
  });

  it("compares two files", async () => {
    writeFileSync(join(folder, "b.txt"), "one\n-- too\nthree\n");
    const app = await shownFor("compare_files", { from: "a.txt", to: "b.txt" });
    await app.view.locator(".title", { hasText: "a.txt → " }).waitFor();
    expect(await app.view.locator("mark").allTextContents()).toEqual(["w", "o"]);
    await app.page.close();
  });
});

describe("the diff of a repository", () => {
  const path = (name: string) => join(folder, name);
  beforeEach(async () => {
    git(folder, "init", "--quiet", "--initial-branch=main");
    git(folder, "config", "user.name", "Ada");
    git(folder, "config", "user.email", "ada@example.org");
    writeFileSync(
      path("old name.txt"),
      Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join(""),
    );
    writeFileSync(path("gone.txt"), "gone\n");
    git(folder, "add", ".");
    git(folder, "commit", "--quiet", "--message=First");
    git(folder, "mv", "old name.txt", "new name.txt");
    git(folder, "rm", "--quiet", "gone.txt");
    writeFileSync(path("made.html"), `${HOSTILE}\n--- not a header\n+++ not one either\n`);
    writeFileSync(
      path("long.txt"),
      "a line of a long file, which does not fit into one answer\n".repeat(4_000),
    );
    git(folder, "add", ".");
    git(folder, "commit", "--quiet", `--message=${HOSTILE}`);
    client = await connectApps(serverBin("git"), [folder]);
  });

  it("shows files with their status, and their lines as text", async () => {
    const app = await shownFor("git_diff", {
      target: "HEAD~1..HEAD",
      paths: ["made.html", "gone.txt"],
    });
    await app.view.locator("summary").filter({ hasText: "gone.txt" }).waitFor();
    expect(await lines(app, "added")).toEqual([HOSTILE, "--- not a header", "+++ not one either"]);
    expect(await lines(app, "removed")).toEqual(["gone"]);
    expect(await app.view.locator("details.file").count()).toBe(2);
    await expectHarmless(app);
    await app.page.close();
  });

  it("shows both names of a moved file", async () => {
    const app = await shownFor("git_show", {
      revision: "HEAD",
      paths: ["new name.txt", "old name.txt"],
    });
    await app.view.locator(".title", { hasText: "old name.txt → new name.txt" }).waitFor();
    await app.page.close();
  });

  it.each([
    ["git_diff_staged", ["add", "gone.txt"]],
    ["git_diff_unstaged", ["add", "--intent-to-add", "gone.txt"]],
  ])("goes on where %s was cut", async (tool, stage) => {
    writeFileSync(path("gone.txt"), "another line of a file that is long\n".repeat(6_000));
    git(folder, ...stage);
    const app = await shownFor(tool, {});
    const more = app.view.getByRole("button", { name: "Load more" });
    await more.waitFor();
    const before = (await lines(app, "added")).length;
    await more.click();
    await expect.poll(async () => (await lines(app, "added")).length).toBeGreaterThan(before);
    expect(app.asked[0]?.params).toMatchObject({
      name: tool,
      arguments: { cursor: expect.any(String) },
    });
    await app.page.close();
  });

  it("opens from the history, which continues page by page", async () => {
    const app = await shownFor("git_log", { max_count: 1 }, "dark");
    await app.view.getByRole("status").filter({ hasText: "1 commit; there are more" }).waitFor();
    await app.view.getByRole("button", { name: "Load more commits" }).click();
    await app.view.getByRole("status").filter({ hasText: "2 commits" }).waitFor();
    await expectHarmless(app);
    const first = app.view.getByText("First", { exact: true });
    await first.click();
    await app.view.locator("tr.added").first().waitFor();
    expect(await lines(app, "added")).toContain("gone");
    expect(app.asked.map(({ params }) => params.name)).toEqual(["git_log", "git_show"]);
    // Closing and reopening it requests it only once.
    await first.click();
    await first.click();
    await expect.poll(() => app.view.locator("details.commit[open]").count()).toBe(1);
    expect(app.asked).toHaveLength(2);
    await app.page.close();
  });

  it("shows the error's text if there is no diff", async () => {
    const app = await shownFor("git_diff", { target: "no-such-branch" });
    await app.view.getByRole("alert").filter({ hasText: "no-such-branch" }).waitFor();
    expect(existsSync(path("gone.txt"))).toBe(false);
    await app.page.close();
  });
});
