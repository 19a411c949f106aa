import { expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { session, site } from "../../test/session.ts";
import "./inspect-page.test.ts";

it("inspects a page that responds after 41 seconds, since its call may take longer", async () => {
  const web = await site({
    "/": (_request, response) => void setTimeout(() => response.end(page("<h1>Late</h1>")), 41_000),
  });
  const talk = await session();
  const { data } = await talk.good("pw_inspect_page", { url: web.url });
  expect(data).toMatchObject({ status: 200, snapshot: expect.stringContaining("Late") });
});
