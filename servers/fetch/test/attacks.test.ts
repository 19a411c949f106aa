import { describe, expect, it } from "vitest";
import { failureOf, fetched, run, site, web, webOf } from "./lab.ts";

/** Every notation of a non-public address, by type. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  "this machine": `127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 0177.0.0.01 00000177.1
    １２７.０.０.１ 127。0。0。1 ⓛocalhost 0 0.0.0.0 [::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1]
    [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::7f00:1] [2002:7f00:1::]
    localhost LOCALHOST localhost. deep.localhost`,
  "the network around": `10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 0xc0a80101 3232235777 100.64.0.1 169.254.1.1
    192.0.0.8 198.18.0.1 [fe80::1] [fc00::1] [fd12:3456::1] [fec0::1] [::ffff:10.0.0.1]
    [2002:a00:1::] [64:ff9b::a00:1] printer.local nas.local. router.internal box.home.arpa
    machine.lan`,
  "the metadata of clouds": `169.254.169.254 0xa9fea9fe 2852039166 [::ffff:169.254.169.254] [fd00:ec2::254]
    100.100.100.200 metadata.google.internal`,
  nobody: `224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 192.0.2.1 198.51.100.1 203.0.113.1
    [ff02::1] [2001:db8::1] [100::1]`,
};

describe.each(Object.entries(FORBIDDEN))("%s", (_what, hosts) => {
  it.each(hosts.split(/\s+/))("is blocked as %s", async (host) => {
    const failure = await failureOf(run(await web(), "fetch", { url: `http://${host}/` }));
    expect(failure.kind).toBe("denied");
    expect(`${failure.message} ${failure.hint}`).toMatch(/address.*--allow-host/);
  });
});

it.each([
  ["file:///etc/passwd", "file: URLs are not allowed"],
  ["data:text/html,<p>x</p>", "data: URLs are not allowed"],
  ["ftp://example.org/", "ftp: URLs are not allowed"],
  ["gopher://example.org/", "gopher: URLs are not allowed"],
  ["javascript:alert(1)", "javascript: URLs are not allowed"],
  ["http://user:password@example.org/", "user name or password"],
  ["http://example.org:80@127.0.0.1/", "user name or password"],
  ["example.org", "is not a URL"],
  ["//example.org/x", "is not a URL"],
  ["http://", "is not a URL"],
  ["http://[fe80::1%25eth0]/", "is not a URL"],
])("%s is refused, and the error says what is allowed", async (url, words) => {
  const failure = await failureOf(run(await web(), "fetch", { url }));
  expect(failure.message).toContain(words);
  expect(failure.message).not.toContain("password@");
});

it("a redirect is checked like the first address", async () => {
  const inner = await site({ "/secret": "SECRET" }, { address: "127.0.0.1" });
  const targets = {
    "/private": `${inner.origin}/secret`,
    "/private-decimal": inner.origin.replace("127.0.0.1", "2130706433"),
    "/file": "file:///etc/passwd",
    "/credentials": "http://a:b@example.org/",
    "/scheme-relative": `//${inner.host}/secret`,
    "/data": "data:text/html,x",
  };
  const outer = await site(
    Object.fromEntries(
      Object.entries(targets).map(([path, location]) => [
        path,
        { status: 302, headers: { location } },
      ]),
    ),
  );
  const opened = await webOf([outer]);
  for (const path of Object.keys(targets)) {
    const failure = await failureOf(run(opened, "fetch", { url: outer.origin + path }));
    expect(failure, path).toMatchObject({ kind: "denied" });
  }
  expect(inner.requests).toEqual([]);
});

it("a robots.txt that leads to a private address is not followed", async () => {
  const inner = await site({ "/robots.txt": "User-agent: *\nAllow: /" }, { address: "127.0.0.1" });
  const outer = await site({
    "/robots.txt": { status: 302, headers: { location: `${inner.origin}/robots.txt` } },
    "/": "x",
  });
  expect(await failureOf(run(await webOf([outer]), "fetch", { url: outer.origin }))).toMatchObject({
    kind: "denied",
  });
  expect(inner.requests).toEqual([]);
  expect(outer.asked).toEqual([]);
});

it("20 redirects are followed, a 21st is not", async () => {
  const hops = Object.fromEntries(
    Array.from({ length: 21 }, (_, hop) => [
      `/${hop + 1}`,
      { status: 302, headers: { location: `/${hop}` } },
    ]),
  );
  const lab = await site({
    ...hops,
    "/0": "<p>arrived</p>",
    "/loop": { status: 302, headers: { location: "/loop" } },
  });
  const opened = await webOf([lab]);
  expect((await fetched(opened, { url: `${lab.origin}/20` })).text).toContain("arrived");
  for (const path of ["/21", "/loop"])
    expect((await failureOf(run(opened, "fetch", { url: lab.origin + path }))).message).toContain(
      "redirects more than 20 times",
    );
});

it("--deny-host overrides --allow-host, and --allow-private allows private addresses", async () => {
  const lab = await site({ "/": "<p>inside</p>" });
  const denied = await webOf([lab], { denyHost: [lab.host] });
  expect(await failureOf(run(denied, "fetch", { url: lab.origin }))).toMatchObject({
    kind: "denied",
    message: expect.stringContaining("--deny-host"),
  });
  const open = await web({ allowPrivate: true });
  expect((await fetched(open, { url: lab.origin })).text).toContain("inside");
});
