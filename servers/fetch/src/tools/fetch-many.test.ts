import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { run, site, texts, webOf } from "../../test/lab.ts";

it("returns several pages, including failures, each once, and reports progress", async () => {
  const lab = await site({ "/a": "<p>First page</p>", "/b": `<p>${"long ".repeat(2_000)}</p>` });
  const web = await webOf([lab]);
  const call = fakeCall();
  const urls = ["/a", "/none", "/b", "/a"].map((path) => lab.origin + path);
  const answers = texts(
    await run(web, "fetch_many", { urls: [...urls, "ftp://example.org/"], max_length: 100 }, call),
  );
  expect(answers[0]).toMatch(new RegExp(`^Contents of ${lab.origin}/a:\\n.*\\n\\nFirst page$`));
  expect(answers[2]).toContain(`[Failed to fetch ${lab.origin}/none: `);
  expect(answers[3]).toContain("long long");
  expect(answers[4]).toContain("start_index=100 to get more");
  expect(answers[5]).toContain("[Failed to fetch ftp://example.org/: ftp: URLs are not allowed");
  expect(answers).toHaveLength(6);
  expect(call.reported.map(({ done, total }) => [done, total])).toEqual(
    [1, 2, 3, 4].map((done) => [done, 4]),
  );
  expect(lab.asked.filter((path) => path === "/a")).toHaveLength(1);
});

it("requests at most two pages from one host at a time", async () => {
  const held: { end(text: string): void }[] = [];
  let most = 0;
  const page = (_: unknown, response: { end(text: string): void }): void => {
    held.push(response);
    most = Math.max(most, held.length);
    // Two are answered together, a moment later: a third one would be here by then.
    if (held.length === 2)
      setTimeout(() => {
        for (const response of held.splice(0)) response.end("<p>x</p>");
      }, 30);
  };
  const lab = await site(
    Object.fromEntries(["/1", "/2", "/3", "/4", "/5", "/6"].map((path) => [path, page])),
  );
  const web = await webOf([lab]);
  await run(web, "fetch_many", { urls: Object.keys(lab.pages).map((path) => lab.origin + path) });
  expect(most).toBe(2);
  expect(lab.asked).toHaveLength(6);
});
