import { expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { session, site } from "../../test/session.ts";

it("tries", async () => {
  const web = await site({
    "/": page(
      `<h1>Hi</h1><img src="/x.png"><a href="javascript:void(0)">Go</a> <a href="/other">click here</a><input><button></button>`,
    ),
  });
  const talk = await session();
  const { data } = await talk.good("pw_audit", { url: web.url });
  console.log(JSON.stringify(data, undefined, 1), JSON.stringify(data).length);
  const again = await talk.good("pw_audit", { url: web.url });
  expect(again.data.findings).toEqual(data.findings);
});
