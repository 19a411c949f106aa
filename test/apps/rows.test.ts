import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../../vitest.long.ts";
import { serverBin, useWorld } from "../servers.ts";
import { connectApps, expectHarmless, HOSTILE, type Look, useViews } from "./host.ts";

/** 500 rows of numbers in two columns, of texts, of NULL, and of a hostile text. */
const SQL = `WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 500)
  SELECT n, (n * 37) % 101 AS "load", 'city ' || n AS city, NULL AS missing, '${HOSTILE.replaceAll("'", "''")}' AS html
  FROM t ORDER BY n`;

/** A server that answers with rows: its tool, and the argument with the statement. */
interface RowServer {
  readonly server: string;
  readonly tool: string;
  readonly sql: string;
}
const SQLITE: RowServer = { server: "sqlite", tool: "read_query", sql: "query" };
const POSTGRES: RowServer = { server: "postgres", tool: "query", sql: "sql" };

// The view of both servers is the same one; the long run has the other.
describe.each([isLong ? POSTGRES : SQLITE])("the rows of $server", ({ server, tool, sql }) => {
  const show = useViews();
  const world = useWorld(server);
  let client: Client;
  beforeAll(async () => {
    client = await connectApps(serverBin(server), world().args, { env: world().env ?? {} });
  });
  afterAll(() => client.close());
  const shownFor = async (more: Record<string, unknown>, look?: "dark" | Look) => {
    const call = { name: tool, arguments: { [sql]: SQL, ...more } };
    return show(client, call, await client.callTool(call), look);
  };

  it("are sorted by a column, numerically: descending, ascending and in the original order", async () => {
    const app = await shownFor({ max_rows: 12 });
    const grid = app.view.getByRole("table", { name: "Rows of the query" });
    const first = () => grid.locator("tbody tr").first().locator("td").first().textContent();
    const header = grid.getByRole("columnheader", { name: "n", exact: false }).first();
    await header.getByRole("button").focus();
    await app.page.keyboard.press("Enter");
    expect(await header.getAttribute("aria-sort")).toBe("ascending");
    await app.page.keyboard.press("Enter");
    expect(await header.getAttribute("aria-sort")).toBe("descending");
    expect(await first()).toBe("12");
    await grid.getByRole("button", { name: "load" }).click();
    expect(await header.getAttribute("aria-sort")).toBeNull();
    // The smallest values of 37 n % 101.
    expect(await first()).toBe("11");
    expect(await grid.locator("td.null").count()).toBe(12);
    await expectHarmless(app);
    await app.page.close();
  });

  it("continue page by page through the cursor, to the end", async () => {
    const app = await shownFor({ max_rows: 300 }, "dark");
    const more = app.view.getByRole("button", { name: "Load more rows" });
    await app.view.getByRole("status").filter({ hasText: "there are more" }).first().waitFor();
    const count = await app.view.locator("tbody tr").count();
    await more.click();
    await expect.poll(() => app.view.locator("tbody tr").count()).toBeGreaterThan(count);
    while (await more.isVisible()) {
      const before = await app.view.locator("tbody tr").count();
      await more.click();
      await expect.poll(() => app.view.locator("tbody tr").count()).toBeGreaterThan(before);
    }
    expect(await app.view.locator("tbody tr").count()).toBe(500);
    expect(app.asked[0]).toMatchObject({
      method: "tools/call",
      params: {
        name: tool,
        arguments: { [sql]: SQL, max_rows: 1_000, cursor: expect.any(String) },
      },
    });
    await app.page.close();
  });

  it("are sorted and filtered with words about which rows that covers, and are copied as shown", async () => {
    const app = await shownFor({ max_rows: 40 }, { downloads: true });
    const { view, page } = app;
    const facts = view.getByRole("status").first();
    await view.getByRole("table").getByRole("button", { name: "load" }).click();
    await facts
      .filter({ hasText: "40 rows; sorted by load: only the 40 loaded rows; there are more" })
      .waitFor();
    const filter = view.getByRole("searchbox", { name: "Filter the loaded rows" });
    await filter.fill("CITY 3");
    await facts.filter({ hasText: "11 of the 40 loaded rows match" }).waitFor();
    expect(await view.locator("tbody tr").count()).toBe(11);
    await view.getByRole("button", { name: "Download CSV" }).click();
    await expect.poll(() => app.asked.map(({ method }) => method)).toContain("ui/download-file");
    const { contents } = Object(app.asked.at(-1)?.params);
    const lines = String(contents[0].resource.text).split("\n");
    expect(lines[0]).toBe("n,load,city,missing,html");
    // The smallest value of 37 n % 101 in 3 and 30 to 39.
    expect(lines[1]).toMatch(/^33,9,city 33,,/);
    expect(lines).toHaveLength(13);
    await view.getByRole("button", { name: "Copy", exact: true }).click();
    await view.getByRole("button", { name: "Copied" }).waitFor();
    await filter.fill("");
    await filter.press("ControlOrMeta+v");
    expect(await filter.inputValue()).toMatch(/^n\s*load\s*city\s*missing\s*html/);
    await page.close();
  });

  it("show the value of a cell, the whole window, and characters that would turn text", async () => {
    const app = await shownFor({
      [sql]: `SELECT 1 AS n, 'a' || '\u202e' || 'b' AS text, '{"a":[1,2]}' AS json`,
    });
    const { view } = app;
    await view.getByRole("cell", { name: "a\\u{202e}b" }).click();
    const value = view.getByRole("region", { name: "Value" });
    expect(await value.locator("pre").textContent()).toBe("a\\u{202e}b");
    await app.page.keyboard.press("Escape");
    await app.page.keyboard.press("ArrowRight");
    await app.page.keyboard.press("Enter");
    expect(await value.locator("pre").textContent()).toBe('{\n  "a": [\n    1,\n    2\n  ]\n}');
    // One row is not worth a chart.
    expect(await view.getByRole("button", { name: "Chart" }).count()).toBe(0);
    await view.getByRole("button", { name: "Full screen" }).click();
    await view.getByRole("button", { name: "Exit full screen" }).click();
    await view.getByRole("button", { name: "Full screen", exact: true }).waitFor();
    expect(app.asked).toEqual(
      ["fullscreen", "inline"].map((mode) => ({
        method: "ui/request-display-mode",
        params: { mode },
      })),
    );
    await app.page.close();
  });

  it("are one large number if there is only one", async () => {
    const app = await shownFor({ [sql]: "SELECT 1234567 AS total" });
    await app.view.getByText("1,234,567").waitFor();
    expect(await app.view.locator("table, button").count()).toBe(0);
    await app.page.close();
  });

  it("are drawn as a chart of the columns that the user chooses", async () => {
    const app = await shownFor({ max_rows: 20 });
    await app.view.getByRole("button", { name: "Chart" }).click();
    const drawing = app.view.getByRole("figure", { name: "bar chart: n by city" });
    await drawing.locator("canvas").waitFor();
    const series = drawing.locator(".u-series");
    expect(await series.locator("th").allTextContents()).toEqual(
      expect.arrayContaining(["city", "n", "load"]),
    );
    await drawing.locator(".u-over").hover({ position: { x: 2, y: 100 } });
    await series.filter({ hasText: "city 1" }).waitFor();
    const load = series.filter({ hasText: "load" });
    expect(await load.getAttribute("class")).toContain("u-off");
    await load.locator("th").click();
    expect(await load.getAttribute("class")).not.toContain("u-off");
    await app.view.getByRole("combobox", { name: "Type" }).selectOption({ label: "line" });
    await app.view.getByRole("figure", { name: "line chart: n by city" }).waitFor();
    await app.view.getByRole("combobox", { name: "By" }).selectOption({ label: "html" });
    await app.view.getByRole("button", { name: "Chart" }).click();
    await app.view.getByRole("table").waitFor();
    await expectHarmless(app);
    await app.page.close();
  });

  it("are drawn along a time axis, with gaps in proportion", async () => {
    // Orders at irregular times, then none for two months.
    const days = [1, 1.07, 1.9, 2.4, 3, 4, 5.5, 6, 66];
    const at = (day: number) =>
      Date.UTC(2025, 0, 1) + Math.round(day * 24) * 3_600_000 + 42 * 60_000;
    const written = (day: number) => new Date(at(day)).toISOString().slice(0, 19).replace("T", " ");
    const values = days.map((day, total) => `('${written(day)}', ${total})`).join(", ");
    const dates = `WITH o(placed_at, total) AS (VALUES ${values}) SELECT placed_at, total FROM o`;
    const app = await shownFor({ [sql]: dates });
    await app.view.getByRole("button", { name: "Chart" }).click();
    await app.view.getByRole("figure", { name: "line chart: total by placed_at" }).waitFor();
    const over = await app.view.locator(".u-over").boundingBox();
    const width = over?.width ?? 0;
    // The last order is where the time is, not where the next place would be.
    await app.view.locator(".u-over").hover({ position: { x: width * 0.5, y: 50 } });
    const total = app.view.locator(".u-series").filter({ hasText: "total" });
    await total.filter({ hasText: /[78]$/ }).waitFor();
    await app.page.close();
  });

  it.each([["csv", "pre"]])(
    "are shown as the model asked for them: %s",
    async (format, element) => {
      const app = await shownFor({ max_rows: 5, format });
      await app.view.locator(element).filter({ hasText: "city 5" }).waitFor();
      await expectHarmless(app);
      await app.page.close();
    },
  );

  it("are replaced by the error's text if the query fails", async () => {
    const app = await shownFor({ [sql]: "SELECT * FROM no_such_table" });
    await app.view.getByRole("alert").filter({ hasText: "no_such_table" }).waitFor();
    await app.page.close();
  });
});
