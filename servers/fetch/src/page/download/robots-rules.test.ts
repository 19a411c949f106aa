import { describe, expect, it } from "vitest";
import { isAllowed } from "./robots-rules.ts";

const UA =
  "ModelContextProtocol/1.0 (Autonomous; +https://github.com/modelcontextprotocol/servers)";

describe("robots.txt (RFC 9309)", () => {
  it.each([
    ["all closed", "User-agent: *\nDisallow: /", "/a", false],
    ["robots.txt itself", "User-agent: *\nDisallow: /", "/robots.txt", true],
    ["the longest match", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true],
    ["allow among equals", "User-agent: *\nDisallow: /page\nAllow: /page", "/page", true],
    [
      "own group before *",
      "User-agent: *\nDisallow: /\nUser-agent: modelcontextprotocol\nDisallow: /x",
      "/a",
      true,
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
    ["a star", "User-agent: *\nDisallow: /*.pdf", "/docs/a.pdf?x", false],
    ["an end", "User-agent: *\nDisallow: /*.pdf$", "/docs/a.pdf?x", true],
    ["the root alone", "User-agent: *\nDisallow: /$", "/", false],
    [
      "comments and blanks",
      "# hello\n  user-agent :  *   # all\n\n disallow : /x # no",
      "/x",
      false,
    ],
    ["a byte order mark and CRLF", "\ufeffUser-agent: *\r\nDisallow: /x\r\n", "/x", false],
    ["escapes in lower case", "User-agent: *\nDisallow: /caf%c3%a9", "/caf%C3%A9", false],
    ["rules before any agent", "Disallow: /\nUser-agent: *\nAllow: /", "/a", true],
  ])("%s", (_what, robots, path, allowed) => expect(isAllowed(robots, UA, path)).toBe(allowed));

  it("is fast on patterns that would blow up a regular expression", () => {
    const robots = `User-agent: *\nDisallow: /${"a*".repeat(5_000)}b$`;
    expect(isAllowed(robots, UA, `/${"a".repeat(50_000)}`)).toBe(true);
  });
});
