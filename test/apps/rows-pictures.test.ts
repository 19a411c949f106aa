import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, useWorld } from "../servers.ts";
import { connectApps, type Look, useViews } from "./host.ts";
import { differsFromPicture, expectPicture, LOOKS } from "./pictures.ts";

/** 5,000 orders of a shop: a growing trend, quiet Sundays, a closed fortnight, and orders without a note. */
const ORDERS = `WITH RECURSIVE t(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM t WHERE n < 4999),
  o AS (SELECT 10001 + n AS id, datetime('2025-01-01 08:12:00', (n * 167 + (n * 7919) % 311) || ' minutes') AS placed_at,
    (n * 7919 + 13) % 10007 AS r FROM t),
  orders AS (SELECT id, placed_at,
    CASE r % 6 WHEN 0 THEN 'Amélie Dubois' WHEN 1 THEN 'Bauer & Söhne GmbH' WHEN 2 THEN 'Chen Wei' WHEN 3 THEN 'D''Angelo'
      WHEN 4 THEN 'Eka Putri' ELSE 'Nordlys Bokhandel' END AS customer,
    CASE r % 4 WHEN 0 THEN 'shipped' WHEN 1 THEN 'paid' WHEN 2 THEN 'shipped' ELSE 'returned' END AS status,
    round(12 + (r % 900) / 7.0 + id / 400.0, 2) AS total,
    CASE WHEN r % 5 = 0 THEN 'Please leave it with the neighbors on the second floor; the bell does not work.' END AS note
    FROM o WHERE NOT (placed_at BETWEEN '2025-08-04' AND '2025-08-18') AND NOT (strftime('%w', placed_at) = '0' AND r % 3))`;
/** Revenue of each day in a year: growing, with a season, less on Sundays, and nothing while the shop is closed. */
const PER_DAY = `WITH RECURSIVE t(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM t WHERE n < 364)
  SELECT date('2025-01-01', n || ' days') AS day,
    round(640 + n * 1.4 + 130 * sin(n / 29.0) + (n * 7919) % 83 - (n % 7 = 4) * 320, 2) AS revenue,
    CASE WHEN n BETWEEN 90 AND 120 THEN NULL ELSE 600 + n / 30 * 50 END AS target
  FROM t WHERE n NOT BETWEEN 214 AND 228`;
const BY_CUSTOMER = `${ORDERS} SELECT customer, round(sum(total), 2) AS revenue FROM orders GROUP BY 1 ORDER BY 2 DESC`;

describe("the rows of a shop look as in the pictures", () => {
  const show = useViews();
  const world = useWorld("sqlite");
  let client: Client;
  beforeAll(async () => {
    client = await connectApps(serverBin("sqlite"), world().args, { env: world().env ?? {} });
  });
  afterAll(() => client.close());
  const shownFor = async (given: Record<string, unknown>, look: Look) => {
    const call = { name: "read_query", arguments: given };
    return show(client, call, await client.callTool(call), look);
  };

  it.each(LOOKS)("as a table: $name", async ({ name, look }) => {
    const query = `${ORDERS} SELECT * FROM orders ORDER BY id`;
    const shown = await shownFor({ query, max_rows: 50 }, look);
    await shown.view.getByRole("table").waitFor();
    await expectPicture(shown, `rows-${name}`);
    await shown.page.close();
  });

  it.each(LOOKS)("as a chart of dates: $name", async ({ name, look }) => {
    const chart = { type: "line", x: "day", y: ["revenue", "target"] };
    const shown = await shownFor({ query: PER_DAY, max_rows: 400, format: "chart", chart }, look);
    await shown.view.getByRole("img", { name: "revenue, target by day" }).waitFor();
    await expectPicture(shown, `chart-${name}`);
    // What the picture is for: the same chart whose labels lost their dates is not like it.
    await shown.view.locator("svg text").evaluateAll((texts) => {
      for (const text of texts) text.textContent = String(text.textContent).replace(/^20\d\d-/, "");
    });
    expect(await differsFromPicture(shown, `chart-${name}`)).toMatch(/differs in \d+ squares/);
    await shown.page.close();
  });

  it("as bars, sorted, filtered and wrapped with a value open, on the whole window, and as one number", async () => {
    const [{ look }] = LOOKS;
    const bars = await shownFor({ query: BY_CUSTOMER, format: "chart" }, look);
    await bars.view.getByRole("img", { name: "revenue by customer" }).waitFor();
    await expectPicture(bars, "chart-bars");
    await bars.page.close();

    const rows = await shownFor(
      { query: `${ORDERS} SELECT * FROM orders ORDER BY id`, max_rows: 60 },
      look,
    );
    await rows.view.getByRole("button", { name: "total" }).click();
    await rows.view.getByRole("searchbox").fill("neighbors");
    await rows.view.getByRole("button", { name: "Wrap text" }).click();
    await rows.view.getByRole("cell", { name: "Please leave it" }).first().click();
    await expectPicture(rows, "rows-detail");
    await rows.view.getByRole("button", { name: "Close" }).click();
    await rows.view.getByRole("searchbox").fill("");
    await rows.view.getByRole("button", { name: "Full screen" }).click();
    await rows.view.getByRole("button", { name: "Exit full screen" }).waitFor();
    await expectPicture(rows, "rows-full-screen");
    await rows.page.close();

    const one = await shownFor(
      { query: `${ORDERS} SELECT count(*) AS "orders in 2025" FROM orders` },
      look,
    );
    await one.view.getByText("orders in 2025").waitFor();
    await expectPicture(one, "rows-one-number");
    await one.page.close();
  });
});
