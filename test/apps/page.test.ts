import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, useWorld } from "../servers.ts";
import { connectApps, expectHarmless, HOSTILE, useViews } from "./host.ts";

/** A page whose text, title, code, table and links would run something if treated as markup. */
const TEXT = HOSTILE.replaceAll("<", "&lt;");
const HOSTILE_PAGE = `<!doctype html><title>${TEXT}</title><main><h1>Hostile</h1>
  <p>${TEXT} and more of it, so that there is a paragraph to read in this page.</p><pre><code>${TEXT}</code></pre>
  <table><tr><th>${TEXT}</th></tr><tr><td>cell</td></tr></table>
  <p>See <a href="javascript:document.title='owned'">this</a>, <a href="data:text/html,x">that</a> and
  <a href="/more?x=${encodeURIComponent(HOSTILE)}">the rest</a>. <img src="/picture.png" alt="A mill"></p></main>`;
const site = createServer((_, response) => {
  response.setHeader("content-type", "text/html");
  response.end(HOSTILE_PAGE);
});

describe("the page to read", () => {
  const show = useViews();
  const world = useWorld("fetch");
  let client: Client;
  let origin = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    origin = `http://${host}`;
    client = await connectApps(serverBin("fetch"), [...world().args, "--allow-host", host]);
  });
  afterAll(async () => {
    await client.close();
    site.close();
  });
  const shownFor = async (given: Record<string, unknown>, theme?: "dark") => {
    const call = { name: "fetch", arguments: given };
    return show(client, call, await client.callTool(call), theme);
  };

  it("has headings, a table and links, and continues with the next piece", async () => {
    const shown = await shownFor({ ...world().calls.fetch });
    await shown.view.getByRole("heading", { name: "The mill guide", level: 1 }).waitFor();
    await shown.view.getByRole("heading", { name: "Opening hours", level: 3 }).waitFor();
    expect(await shown.view.getByRole("cell").allTextContents()).toEqual([
      "Adults",
      "€ 7.50",
      "Children",
      "€ 3.00",
    ]);
    const more = shown.view.getByRole("button", { name: "Load more" });
    await more.focus();
    await shown.page.keyboard.press("Enter");
    await shown.view.getByText("mill@example.org").waitFor();
    expect(await more.isVisible()).toBe(false);
    expect(shown.asked[0]?.params).toEqual({
      name: "fetch",
      arguments: { ...world().calls.fetch, start_index: 600 },
    });
    await shown.view.getByRole("link", { name: "Mill Lane" }).click();
    await expect.poll(() => shown.asked[1]).toMatchObject({ method: "ui/open-link" });
    expect(shown.loaded).toEqual([]);
    await shown.page.close();
  });

  it("shows hostile text as text, and no script links", async () => {
    const shown = await shownFor({ url: `${origin}/` }, "dark");
    await shown.view.getByText("and more of it").waitFor();
    await expectHarmless(shown);
    const addresses = await shown.view
      .getByRole("link")
      .evaluateAll((links) => links.map((link) => String(link.getAttribute("href"))));
    expect(addresses).toHaveLength(1);
    expect(addresses[0]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/more/);
    await shown.page.close();
  });

  it.each(["html", "text", "links", "metadata"])("is shown in the requested format: %s", async (format) => {
    const shown = await shownFor({ url: `${origin}/`, format });
    await shown.view.locator("main, pre").first().waitFor();
    await expectHarmless(shown);
    await shown.page.close();
  });

  it("shows the fetched image, or an error's text", async () => {
    const base = new URL(String(Object(world().calls.fetch).url)).origin;
    const shown = await shownFor({ url: `${base}/mill.png` });
    await shown.view.getByRole("img", { name: "The fetched image" }).waitFor();
    expect(shown.loaded).toEqual([]);
    await shown.page.close();
    const failed = await shownFor({ url: `${base}/closed` });
    await failed.view.getByText(/robots/).waitFor();
    await failed.page.close();
  });
});
