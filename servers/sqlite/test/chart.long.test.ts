import { expect, it } from "vitest";
import { labs } from "./asking.ts";
import { talk } from "./session.ts";

const enter = labs();

it("adds a PNG of the rows to the answer", async () => {
  const { file } = await enter();
  const { connected, call, close } = await talk(["--db-path", file]);
  const query =
    "SELECT u.name, sum(o.total) AS total FROM orders o JOIN users u ON u.id = o.user_id GROUP BY 1 ORDER BY 2";
  const { content, structuredContent } = await connected.client.callTool({
    name: "read_query",
    arguments: { query, format: "chart", chart: { type: "line", title: "Orders" } },
  });
  expect(structuredContent).toMatchObject({
    rows: [
      ["Charles", 7.25],
      ["Ada", 30.5],
    ],
  });
  const [text, image] = content;
  expect(text).toMatchObject({ type: "text", text: expect.stringContaining("Charles") });
  expect(image).toMatchObject({
    type: "image",
    mimeType: "image/png",
    data: expect.stringMatching(/^iVBORw0KGgo/),
  });
  for (const [given, message] of [
    [{ query: "SELECT name FROM users", format: "chart" }, /No column has numbers/],
    [{ query, format: "chart", chart: { x: "nam" } }, /no column "nam" to draw.*name, total/s],
    [{ query, chart: { type: "bar" } }, /chart can't be combined with format "rows"/],
  ] as const)
    expect((await call("read_query", given)).text).toMatch(message);
  await close();
});
