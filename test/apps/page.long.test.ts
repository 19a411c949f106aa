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
/** A page of 40 chapters, with a table that goes on from one piece to the next. */
const LONG_PAGE = `<!doctype html><title>The mill in numbers</title><main><h1>The mill in numbers</h1>${Array.from(
  { length: 40 },
  (
    _,
    chapter,
  ) => `<h2>Chapter ${chapter + 1}</h2>${"<p>The wheel turns slowly in summer and fast in spring.</p>".repeat(4)}
    <pre><code>turn(${chapter + 1});</code></pre>`,
).join(
  "",
)}<table><tr><th>Interoperability</th><th>Year</th></tr>${Array.from({ length: 400 }, (_, row) => `<tr><td>Row ${row}</td><td>${1600 + row}</td></tr>`).join("")}</table></main>`;
const site = createServer(({ url }, response) => {
  response.setHeader("content-type", "text/html");
  response.end(url === "/long" ? LONG_PAGE : HOSTILE_PAGE);
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
    const given = shown.asked.map(({ params }) => params.arguments);
    expect(given).toContainEqual({ ...world().calls.fetch, start_index: 600 });
    await shown.view.getByRole("link", { name: "Mill Lane" }).click();
    await expect.poll(() => shown.asked.at(-1)).toMatchObject({ method: "ui/open-link" });
    expect(shown.loaded).toEqual([]);
    await shown.page.close();
  });

  it("lists the headings of the whole page, and loads what the reader jumps to", async () => {
    const shown = await shownFor({ url: `${origin}/long` });
    await shown.view.getByText("Contents (41)").click();
    await shown.view.getByRole("link", { name: "Chapter 38" }).click();
    const heading = shown.view.getByRole("heading", { name: "Chapter 38" });
    await heading.waitFor();
    const [place, article] = [
      await heading.boundingBox(),
      await shown.view.getByRole("article").boundingBox(),
    ];
    expect((place?.y ?? 0) - (article?.y ?? 0)).toBeLessThan((article?.height ?? 0) / 2);
    expect(await shown.view.locator("[aria-current=location]").textContent()).toBe("Chapter 38");
    await shown.view.getByRole("link", { name: "Chapter 2", exact: true }).click();
    await expect
      .poll(() => shown.view.locator("[aria-current=location]").textContent())
      .toBe("Chapter 2");
    await shown.page.close();
  });

  it("shows the title once, joins a table that was cut, and keeps the words of its head whole", async () => {
    const shown = await shownFor({ url: `${origin}/long`, max_length: 13_000 });
    const titles = await shown.view.getByRole("heading", { name: "The mill in numbers" }).all();
    const heights = await Promise.all(
      titles.map(async (one) => (await one.boundingBox())?.height ?? 0),
    );
    expect(heights.filter((height) => height > 1)).toHaveLength(1);
    const more = shown.view.getByRole("button", { name: "Load more" });
    for (let piece = 0; piece < 5 && (await more.isVisible()); piece += 1) {
      await more.click();
      await shown.view.getByText(/% of the page|The whole page/).waitFor();
    }
    expect(await shown.view.getByRole("table").count()).toBe(1);
    expect(await shown.view.getByRole("row").count()).toBe(401);
    await shown.page.evaluate("document.querySelector('iframe').style.width = '360px'");
    const head = shown.view.getByRole("columnheader", { name: "Interoperability" });
    const lines = await head.evaluate((cell) => {
      const range = cell.ownerDocument.createRange();
      range.selectNodeContents(cell);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
    await shown.page.close();
  });

  it("finds text, copies code, and is shown on the whole window", async () => {
    const shown = await shownFor({ url: `${origin}/long` });
    await shown.view.getByRole("searchbox").fill("TURN(2)");
    await shown.view.getByText("1 of 1").waitFor();
    await shown.view.getByRole("searchbox").fill("wheel turns");
    await shown.view.getByRole("searchbox").press("Enter");
    await shown.view.getByText(/^2 of \d+$/).waitFor();
    await shown.view.getByRole("searchbox").fill("not on this page");
    await shown.view.getByText("no match in the loaded text").waitFor();
    await shown.view.getByRole("button", { name: "Copy" }).first().click();
    await shown.view.getByRole("button", { name: "Copied" }).waitFor();
    await shown.view.getByRole("button", { name: "Full screen" }).click();
    await shown.view.getByRole("button", { name: "Exit full screen" }).waitFor();
    expect(shown.asked).toContainEqual({
      method: "ui/request-display-mode",
      params: { mode: "fullscreen" },
    });
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

  it.each(["html", "text", "links", "metadata"])(
    "is shown in the requested format: %s",
    async (format) => {
      const shown = await shownFor({ url: `${origin}/`, format });
      await shown.view.locator("main, pre").first().waitFor();
      await expectHarmless(shown);
      await shown.page.close();
    },
  );

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
