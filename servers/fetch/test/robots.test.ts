import { describe, expect, it } from "vitest";
import { type Answer, failureOf, fetched, run, site, texts, webOf } from "./lab.ts";

const rules = (text: string, status = 200): Answer => ({
  status,
  headers: { "content-type": "text/plain" },
  body: text,
});

describe("robots.txt of a site", () => {
  it("is respected, with an option for the user", async () => {
    const lab = await site({
      "/robots.txt": rules("User-agent: *\nDisallow: /private"),
      "/private/x": "x",
      "/open": "<p>open</p>",
    });
    const opened = await webOf([lab]);
    expect((await fetched(opened, { url: `${lab.origin}/open` })).text).toContain("open");
    const failure = await failureOf(run(opened, "fetch", { url: `${lab.origin}/private/x` }));
    expect(failure).toMatchObject({
      kind: "denied",
      message: `${lab.origin}/robots.txt disallows fetching /private/x.`,
      hint: expect.stringContaining("--ignore-robots-txt"),
    });
    expect(lab.asked).toEqual(["/open"]);
  });

  it("is requested once for all pages, with the same user agent", async () => {
    const lab = await site({ "/robots.txt": rules(""), "/a": "a", "/b": "b" });
    const opened = await webOf([lab], { userAgent: "Curious/2.0" });
    for (const path of ["/a", "/b"]) await fetched(opened, { url: lab.origin + path });
    expect(lab.requests.map(({ path, headers }) => `${path} ${headers["user-agent"]}`)).toEqual([
      "/robots.txt Curious/2.0",
      "/a Curious/2.0",
      "/b Curious/2.0",
    ]);
  });

  it.each([404, 403, 503])(
    "that is missing (4xx) disallows nothing, that fails (5xx) everything (RFC 9309, 2.3.1): %i",
    async (status) => {
      const robots = rules("User-agent: *\nDisallow: /", status);
      const lab = await site({ "/robots.txt": robots, "/": "<p>in</p>" });
      const answer = run(await webOf([lab]), "fetch", { url: lab.origin });
      if (status < 500) expect(texts(await answer)[0]).toContain("in");
      else
        expect(await failureOf(answer)).toMatchObject({
          kind: "denied",
          message: expect.stringContaining(`status ${status}`),
        });
      expect(lab.asked).toEqual(status < 500 ? ["/"] : []);
    },
  );

  it("is ignored with --ignore-robots-txt", async () => {
    const lab = await site({
      "/robots.txt": rules("User-agent: *\nDisallow: /"),
      "/": "<p>in</p>",
    });
    expect(
      (await fetched(await webOf([lab], { ignoreRobotsTxt: true }), { url: lab.origin })).text,
    ).toContain("in");
    expect(lab.requests.map(({ path }) => path)).toEqual(["/"]);
  });
});
