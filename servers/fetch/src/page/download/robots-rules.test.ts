import { describe, expect, it } from "vitest";
import { isAllowed } from "./robots-rules.ts";

const UA =
  "ModelContextProtocol/1.0 (Autonomous; +https://github.com/modelcontextprotocol/servers)";

describe("robots.txt (RFC 9309)", () => {
  it.each([
    ["nothing", "", "/a", true],
    ["all closed", "User-agent: *\nDisallow: /", "/a", false],
    ["robots.txt itself", "User-agent: *\nDisallow: /", "/robots.txt", true],
    ["an empty rule", "User-agent: *\nDisallow:", "/a", true],
    ["a prefix", "User-agent: *\nDisallow: /private", "/private/x", false],
    ["another path", "User-agent: *\nDisallow: /private", "/public", true],
    ["the longest match", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true],
    ["the longest match, in any order", "User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/c", false],
    ["allow among equals", "User-agent: *\nDisallow: /page\nAllow: /page", "/page", true],
    [
      "own group before *",
      "User-agent: *\nDisallow: /\nUser-agent: modelcontextprotocol\nDisallow: /x",
      "/a",
      true,
    ],
    [
      "own group, in any case, with a version",
      "User-Agent: ModelContextProtocol/9\nDisallow: /x",
      "/x",
      false,
    ],
    [
      "several agents of one group",
      "User-agent: a\nUser-agent: ModelContextProtocol\nDisallow: /x",
      "/x",
      false,
    ],
    [
      "groups that are merged",
      "User-agent: modelcontextprotocol\nDisallow: /x\n\nUser-agent: b\nDisallow: /z\n\nUser-agent: modelcontextprotocol\nDisallow: /y",
      "/y",
      false,
    ],
    ["another agent", "User-agent: googlebot\nDisallow: /", "/a", true],
    ["a star", "User-agent: *\nDisallow: /*.pdf", "/docs/a.pdf?x", false],
    ["an end", "User-agent: *\nDisallow: /*.pdf$", "/docs/a.pdf?x", true],
    ["an end that fits", "User-agent: *\nDisallow: /*.pdf$", "/a.pdf/b.pdf", false],
    ["only an end", "User-agent: *\nDisallow: /$", "/a", true],
    ["the root alone", "User-agent: *\nDisallow: /$", "/", false],
    [
      "comments and blanks",
      "# hello\n  user-agent :  *   # all\n\n disallow : /x # no",
      "/x",
      false,
    ],
    ["a byte order mark and CRLF", "\ufeffUser-agent: *\r\nDisallow: /x\r\n", "/x", false],
    ["octets beyond ASCII", "User-agent: *\nDisallow: /caf\u00e9", "/caf%C3%A9", false],
    ["escapes in lower case", "User-agent: *\nDisallow: /caf%c3%a9", "/caf%C3%A9", false],
    ["lines that are none", "hello\nUser-agent: *\nnonsense\nDisallow: /x", "/x", false],
    ["rules before any agent", "Disallow: /\nUser-agent: *\nAllow: /", "/a", true],
    ["sitemaps between", "User-agent: *\nSitemap: https://x/s.xml\nDisallow: /x", "/x", false],
  ])("%s", (_what, robots, path, allowed) => expect(isAllowed(robots, UA, path)).toBe(allowed));

  it("is fast on patterns that would blow up a regular expression", () => {
    const robots = `User-agent: *\nDisallow: /${"a*".repeat(5_000)}b$`;
    expect(isAllowed(robots, UA, `/${"a".repeat(50_000)}`)).toBe(true);
  });
});
