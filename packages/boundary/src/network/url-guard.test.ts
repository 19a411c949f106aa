import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import ipaddr from "ipaddr.js";
import { afterEach, describe, expect, it } from "vitest";
import { refusal } from "../../test/fixtures/boundary.ts";
import { reserveOf } from "./addresses.ts";
import { createUrlGuard, parseHostRule, type Resolve, type UrlRules } from "./url-guard.ts";

const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

/** Why a URL is refused, or "reached". */
async function fate(
  url: string,
  rules: UrlRules = {},
  resolve = answering("93.184.215.14"),
): Promise<string> {
  const guard = createUrlGuard(rules, resolve);
  try {
    const { hostname, port } = guard.check(url);
    await guard.place(hostname, port === "" ? 80 : Number(port));
    return "reached";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The words of a text, over several lines. */
const words = (text: string) => text.trim().split(/\s+/);

describe("addresses", () => {
  it.each([
    ["a loopback address", "127.0.0.1 127.255.0.3 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1"],
    ["the unspecified address", "0.0.0.0 ::"],
    ["a private address", "10.1.2.3 172.31.255.255 192.168.0.1 fd00:ec2::254 fc00::1"],
    ["a link-local address", "169.254.169.254 fe80::1 fe80::1%eth0 64:ff9b::169.254.169.254"],
    ["an address of a shared network (carrier-grade NAT)", "100.64.0.1"],
    ["a multicast or broadcast address", "224.0.0.1 255.255.255.255 ff02::1"],
    ["a reserved address", "192.0.2.1 198.18.0.1 240.0.0.1 2001:db8::1"],
    // IPv4 inside IPv6: mapped (above), compatible, translated, NAT64, 6to4, Teredo, ISATAP.
    [
      "a reserved address",
      `::127.0.0.1 ::7f00:1 ::ffff:0:10.0.0.1 64:ff9b:1::10.0.0.1 64:ff9b:1:a00:0:100:808:808 ::8.8.8.8
      ::ffff:0:8.8.8.8 2002:7f00:1:: 2002:a00:1::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2606:4700::5efe:127.0.0.1
      2606:4700::200:5efe:127.0.0.1 2a00:1450:4001:80b:0:5efe:a9fe:a9fe 2a00:1450:4001:80b:200:5efe:10.0.0.1
      2002:808:808::1 2606:4700::200:5efe:8.8.8.8`,
    ],
    ["not an IP address", "nonsense"],
  ])("are %s: %s", (reserve, addresses) => {
    for (const address of words(addresses)) expect(reserveOf(address), address).toBe(reserve);
  });

  it("are public", () => {
    const ipv6 = "2606:4700::1111 64:ff9b::8.8.8.8 ::ffff:8.8.8.8 2606:4700::400:5efe:10.0.0.1";
    for (const address of words(`93.184.215.14 8.8.8.8 ${ipv6}`))
      expect(reserveOf(address), address).toBeUndefined();
  });

  // The IANA special-purpose registries (https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-) with
  // multicast, without what carries a public IPv4 address: ::ffff:0:0/96 and 64:ff9b::/96.
  it.each(
    `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
    203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/128 ::1/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32
    2001:1::1/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32
    2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 ff00::/8`.split(/\s+/),
  )("the registered block %s is not public, from its first address to its last", (block) => {
    const kind = block.includes(":") ? ipaddr.IPv6 : ipaddr.IPv4;
    expect(reserveOf(String(kind.networkAddressFromCIDR(block)))).toBeDefined();
    expect(reserveOf(String(kind.broadcastAddressFromCIDR(block)))).toBeDefined();
  });

  it("no IPv6 address outside 2000::/3 is public", () => {
    const open = [];
    for (let first = 0; first < 0x10000; first++) {
      const address = `${first.toString(16)}:1234:5678:9abc:def0:1234:808:808`;
      if (first >> 13 !== 1 && reserveOf(address) === undefined) open.push(address);
    }
    expect(open).toEqual([]);
  });
});

describe("a URL guard", () => {
  it.each(
    words(`2130706433 0x7f000001 017700000001 0177.0.0.1 0x7f.1 127.1 127.0.0.1. １２７.０.０.１ ①②⑦.0.0.1
    %31%32%37.0.0.1 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:0:0:1] [64:ff9b::7f00:1] localhost
    LOCALHOST. sub.localhost`),
  )("recognizes loopback as %s", async (host) =>
    expect(await fate(`http://${host}/`)).toContain("a loopback address"),
  );

  it.each([
    ["http://0/", "the unspecified address"],
    ["http://169.254.169.254/latest/meta-data", "a link-local address"],
    ["http://[fd00:ec2::254]/", "a private address"],
    ["http://0xa9fea9fe/", "a link-local address"],
    ["http://[::127.0.0.1]/", "a reserved address"],
    ["http://[2606:4700::200:5efe:127.0.0.1]/", "a reserved address"],
    ["http://[2002:7f00:1::]/", "a reserved address"],
    ["http://printer.local/", "a private address"],
    ["http://metadata.google.internal/", "a private address"],
    ["http://100.100.100.200/", "carrier-grade NAT"],
  ])("blocks %s as %s, naming the option", async (url, why) => {
    expect(await fate(url)).toContain(why);
    const host = new URL(url).hostname.replace(/[[\]]/g, "");
    const { kind, hint } = await refusal(createUrlGuard({}, answering("8.8.8.8")).place(host, 80));
    expect(kind).toBe("denied");
    expect(hint).toBe(`To allow it, the user can start the server with --allow-host ${host}.`);
  });

  it("refuses other schemes, credentials and invalid URLs", async () => {
    expect(await fate("file:///etc/passwd")).toContain("file: URLs are not allowed");
    expect(await fate("data:text/html,x")).toContain("data: URLs are not allowed");
    expect(await fate("ftp://example.org/")).toContain("ftp: URLs are not allowed");
    expect(await fate("htps://example.org/")).toContain("Did you mean https?");
    expect(await fate("http://user:secret@example.org/")).toBe(
      "URLs that contain a user name or password are not allowed (host example.org).",
    );
    expect(await fate("//example.org/")).toContain("is not a URL");
    expect(await fate("http://fe80::1%25eth0/")).toContain("is not a URL");
    expect(await fate(`http://example.org/${"x".repeat(9_000)}`)).toContain("the limit is 8192");
  });

  it("blocks a name if any of its addresses is not public", async () => {
    expect(await fate("http://mixed.example/", {}, answering("93.184.215.14", "10.0.0.8"))).toBe(
      'The host "mixed.example" resolves to 10.0.0.8, a private address, and is blocked.',
    );
    expect(await fate("http://empty.example/", {}, answering())).toContain("has no address");
    expect(
      await fate("http://good.example/", {}, answering("93.184.215.14", "2606:4700::1111")),
    ).toBe("reached");
  });

  const denyMapped = (rule: string) => ({ allowPrivate: true, denyHosts: [rule] });
  const both = { allowPrivate: true, denyHosts: ["*.example", "10.0.0.0/8"] };
  it.each<[string, UrlRules, string, string?]>([
    ["nas.example", { allowHosts: ["nas.example"] }, "reached"],
    ["nas.example:81", { allowHosts: ["nas.example:80"] }, "private"],
    ["a.nas.example", { allowHosts: ["*.nas.example"] }, "reached"],
    ["evilnas.example", { allowHosts: ["*.nas.example"] }, "private"],
    ["nas.example", { allowHosts: ["192.168.7.0/24"] }, "reached"],
    ["nas.example", { allowHosts: ["192.168.7.7"] }, "reached"],
    ["[::1]:3000", { allowHosts: ["[::1]:3000"] }, "reached"],
    ["localhost:3000", { allowLoopback: true }, "reached", "127.0.0.1"],
    ["10.0.0.1", { allowLoopback: true }, "a private address"],
    ["10.0.0.1", { allowPrivate: true }, "reached"],
    ["a.example", both, "is denied by --deny-host"],
    ["10.0.0.1", both, "is denied by --deny-host"],
    ["b.test", both, "which is denied by --deny-host", "10.2.3.4"],
    ["b.test", denyMapped("::ffff:10.0.0.8"), "which is denied by --deny-host", "10.0.0.8"],
    ["[::ffff:10.0.0.8]", denyMapped("::ffff:a00:0/104"), "is denied by --deny-host"],
    ["[::1]", denyMapped("::ffff:10.0.0.0/0"), "is denied by --deny-host"],
    ["11.0.0.1", denyMapped("::ffff:10.0.0.0/104"), "reached"],
  ])("applies allow rules, and deny rules before them: %s %j", async (host, rules, what, at) => {
    expect(await fate(`http://${host}/`, rules, answering(at ?? "192.168.7.7"))).toContain(what);
  });

  it("refuses an invalid rule", () => {
    for (const rule of ["", "http://a.b", "a b", "a@b", "*", "a.*", "a.b:99999"])
      expect(() => parseHostRule(rule)).toThrow();
  });

  describe("connecting", () => {
    let server: Server | undefined;
    afterEach(() => server?.close());

    it("uses the checked address, even if the name later resolves to another, and resolves once", async () => {
      server = createServer((_request, response) => response.end("hello"));
      await new Promise<void>((resolve) => server?.listen(0, "127.0.0.2", resolve));
      const { port } = server.address() as AddressInfo;
      let asked = 0;
      const flipping: Resolve = async () => [
        { address: asked++ === 0 ? "127.0.0.2" : "127.0.0.3", family: 4 },
      ];
      const guard = createUrlGuard({ allowHosts: ["127.0.0.2"] }, flipping);
      const socket = await guard.connect("public.example", port);
      expect(socket.remoteAddress).toBe("127.0.0.2");
      socket.destroy();
      expect(asked).toBe(1);
      expect((await refusal(guard.connect("public.example", port))).message).toContain("127.0.0.3");
    });

    it("tries the next address; a look-up stops when cancelled", async () => {
      server = createServer();
      await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const guard = createUrlGuard({ allowLoopback: true }, answering("127.0.0.9", "127.0.0.1"));
      const socket = await guard.connect("two.example", port);
      expect(socket.remoteAddress).toBe("127.0.0.1");
      socket.destroy();
      const never: Resolve = () => new Promise(() => undefined);
      const controller = new AbortController();
      const waiting = createUrlGuard({}, never).place("slow.example", port, controller.signal);
      controller.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
    });
  });
});
