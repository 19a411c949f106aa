import { readFile } from "node:fs/promises";
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

  it("applies by the name of the user agent", async () => {
    const lab = await site({
      "/robots.txt": rules("User-agent: curious\nDisallow: /\n\nUser-agent: *\nAllow: /"),
      "/": "<p>in</p>",
    });
    expect(
      await failureOf(
        run(await webOf([lab], { userAgent: "Curious/2.0" }), "fetch", { url: lab.origin }),
      ),
    ).toMatchObject({ kind: "denied" });
    expect((await fetched(await webOf([lab]), { url: lab.origin })).text).toContain("in");
  });

  it.each([404, 401, 403, 429])(
    "that is missing (%i) disallows nothing (RFC 9309, 2.3.1.3)",
    async (status) => {
      const lab = await site({
        "/robots.txt": rules("User-agent: *\nDisallow: /", status),
        "/": "<p>in</p>",
      });
      expect((await fetched(await webOf([lab]), { url: lab.origin })).text).toContain("in");
    },
  );

  it.each([500, 503])(
    "that fails (%i) disallows everything (RFC 9309, 2.3.1.4)",
    async (status) => {
      const lab = await site({ "/robots.txt": rules("", status), "/": "x" });
      expect(await failureOf(run(await webOf([lab]), "fetch", { url: lab.origin }))).toMatchObject({
        kind: "denied",
        message: expect.stringContaining(`status ${status}`),
      });
      expect(lab.asked).toEqual([]);
    },
  );

  it("is followed through redirects", async () => {
    const lab = await site({
      "/robots.txt": { status: 301, headers: { location: "/rules.txt" } },
      "/rules.txt": rules("User-agent: *\nDisallow: /x"),
      "/x": "x",
    });
    expect(
      await failureOf(run(await webOf([lab]), "fetch", { url: `${lab.origin}/x` })),
    ).toMatchObject({
      kind: "denied",
    });
  });

  it("is read up to half a megabyte", async () => {
    const lab = await site({
      "/robots.txt": rules(
        `User-agent: *\nDisallow: /x\n${"# filler\n".repeat(200_000)}Disallow: /`,
      ),
      "/": "<p>in</p>",
    });
    const opened = await webOf([lab]);
    expect((await fetched(opened, { url: lab.origin })).text).toContain("in");
    expect(await failureOf(run(opened, "fetch", { url: `${lab.origin}/x` }))).toMatchObject({
      kind: "denied",
    });
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

  it("is ignored for the prompt, which has its own user agent", async () => {
    const lab = await site({
      "/robots.txt": rules("User-agent: *\nDisallow: /"),
      "/": "<p>in</p>",
    });
    const opened = await webOf([lab]);
    const snapshot = await opened.get(lab.origin, {
      requester: "user",
      signal: new AbortController().signal,
    });
    expect(snapshot.answer.status).toBe(200);
    const { repository } = JSON.parse(
      await readFile(new URL("../package.json", import.meta.url), "utf8"),
    );
    expect(lab.requests.map(({ headers }) => headers["user-agent"])).toEqual([
      `ModelContextProtocol/1.0 (User-Specified; +${repository.url.replace(/^git\+|\.git$/g, "")})`,
    ]);
    // A page added by a person is still disallowed for the model.
    expect(await failureOf(run(opened, "fetch", { url: lab.origin }))).toMatchObject({
      kind: "denied",
    });
  });

  it("of a blocked host is not requested", async () => {
    const answer = await run(await web(), "fetch_many", { urls: ["http://127.0.0.1:9/"] }).catch(
      (error: Error) => error.message,
    );
    expect(answer).toContain("loopback address");
    expect(texts(answer)).toEqual([]);
  });
});
