import { describe, expect, it } from "vitest";
import { type Answer, failureOf, fetched, run, site, texts, web, webOf } from "./lab.ts";

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
    expect(await failureOf(run(opened, "fetch", { url: `${lab.origin}/private/x` }))).toMatchObject(
      {
        kind: "denied",
        message: `${lab.origin}/robots.txt disallows fetching /private/x.`,
        hint: expect.stringContaining("--ignore-robots-txt"),
      },
    );
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

  it.each([404, 403])(
    "that is missing (%i) disallows nothing (RFC 9309, 2.3.1.3)",
    async (status) => {
      const lab = await site({
        "/robots.txt": rules("User-agent: *\nDisallow: /", status),
        "/": "<p>in</p>",
      });
      expect((await fetched(await webOf([lab]), { url: lab.origin })).text).toContain("in");
    },
  );

  it.each([503])("that fails (%i) disallows everything (RFC 9309, 2.3.1.4)", async (status) => {
    const lab = await site({ "/robots.txt": rules("", status), "/": "x" });
    expect(await failureOf(run(await webOf([lab]), "fetch", { url: lab.origin }))).toMatchObject({
      kind: "denied",
      message: expect.stringContaining(`status ${status}`),
    });
    expect(lab.asked).toEqual([]);
  });

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

  it("of a blocked host is not requested", async () => {
    const answer = await run(await web(), "fetch_many", { urls: ["http://127.0.0.1:9/"] }).catch(
      (error: Error) => error.message,
    );
    expect(answer).toContain("loopback address");
    expect(texts(answer)).toEqual([]);
  });
});
