import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serverBin } from "../servers.ts";
import { connectApps, useViews } from "./host.ts";

const show = useViews();
let top = "";
let folder = "";
let args: string[] = [];
let client: Client;
beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), "refmcp-apps-"));
  folder = join(top, "folder");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.txt"), "kept\n");
  // Nothing is kept: so a deletion is permanent, and asks.
  args = ["--journal-days", "0", folder];
  client = await connectApps(serverBin("filesystem"), args);
});
afterEach(async () => {
  await client.close();
  rmSync(top, { recursive: true, force: true });
});

const call = { name: "delete_file", arguments: { path: "a.txt" } };
const file = () => join(folder, "a.txt");

describe("the confirmation card", () => {
  it("is declared on the tools that may ask, and its own tool is for views only", async () => {
    expect(client.getServerCapabilities()?.extensions).toMatchObject({
      "io.modelcontextprotocol/ui": {},
    });
    const { tools } = await client.listTools();
    const meta = (name: string) => tools.find((tool) => tool.name === name)?._meta;
    expect(meta("delete_file")).toEqual({ ui: { resourceUri: "ui://filesystem/confirm.html" } });
    expect(meta("read_text_file")).not.toHaveProperty("ui");
    expect(meta("filesystem_confirm")).toEqual({ ui: { visibility: ["app"] } });
  });

  it("shows the loss, does what the user clicks, once, and notifies the model", async () => {
    const result = await client.callTool(call);
    const asked = JSON.stringify(result.content);
    const { token }: { token: string } = Object(result._meta?.["io.github.refmcp/confirmation"]);
    expect(asked).toContain("Nothing has been done yet.");
    expect(asked).not.toContain(token);
    expect(result.structuredContent).toBeUndefined();
    expect(existsSync(file())).toBe(true);

    const app = await show(client, call, result);
    await app.view.getByRole("heading", { name: 'Delete "a.txt"?', exact: true }).waitFor();
    // A click by a script is not the user's confirmation.
    for (const name of ['Delete "a.txt"', "Cancel"])
      await app.view
        .getByRole("button", { name })
        .evaluate((button) => Reflect.get(button, "click").call(button));
    expect(app.asked).toEqual([]);
    await app.view.getByRole("button", { name: 'Delete "a.txt"' }).click();
    await app.view
      .getByRole("status")
      .filter({ hasText: /Deleted|deleted/ })
      .waitFor();
    expect(existsSync(file())).toBe(false);
    expect(app.asked.map(({ method }) => method)).toEqual([
      "tools/call",
      "ui/update-model-context",
    ]);
    expect(JSON.stringify(app.asked[1]?.params)).toContain("The user confirmed");
    expect(app.loaded).toEqual([]);
    expect(
      await client.callTool({ name: "filesystem_confirm", arguments: { token, accept: true } }),
    ).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("already answered") }],
    });
    await app.page.close();
  });

  it("works with the keyboard, and Cancel changes nothing", async () => {
    const app = await show(client, call, await client.callTool(call), "dark");
    await app.view.getByRole("button", { name: "Cancel" }).focus();
    await app.page.keyboard.press("Enter");
    await app.view
      .getByRole("status")
      .filter({ hasText: "The user declined. Nothing was changed." })
      .waitFor();
    expect(existsSync(file())).toBe(true);
    expect(JSON.stringify(app.asked[1]?.params)).toContain("The user declined");
    await app.page.close();
  });

  it("stays empty if nothing had to be confirmed", async () => {
    await client.close();
    client = await connectApps(serverBin("filesystem"), [folder]);
    const result = await client.callTool(call);
    expect(existsSync(file())).toBe(false);
    const app = await show(client, call, result);
    await app.page.locator("iframe[data-sized]").waitFor({ state: "attached" });
    expect(await app.page.locator("iframe").evaluate((frame) => frame.clientHeight)).toBe(0);
    await app.page.close();
  });

  it.each(["0".repeat(32), ""])("refuses the made-up token %j", async (token) => {
    await client.callTool(call);
    const answer = await client.callTool({
      name: "filesystem_confirm",
      arguments: { token, accept: true },
    });
    expect(answer.isError).toBe(true);
    expect(existsSync(file())).toBe(true);
  });

  it("does not exist for a client without views: no tool, no page, no difference", async () => {
    const plain = await connectApps(serverBin("filesystem"), args, { extensions: {} });
    expect(plain.getServerCapabilities()?.extensions ?? {}).not.toHaveProperty(
      "io.modelcontextprotocol/ui",
    );
    const { tools } = await plain.listTools();
    expect(JSON.stringify(tools)).not.toMatch(/"ui"|filesystem_confirm/);
    await expect(plain.callTool({ name: "filesystem_confirm", arguments: {} })).rejects.toThrow(
      "Unknown tool",
    );
    await expect(plain.readResource({ uri: "ui://filesystem/confirm.html" })).rejects.toThrow();
    expect(await plain.callTool(call)).toMatchObject({ isError: true });
    await plain.close();
  });
});
