import ipaddr from "ipaddr.js";

/** Why an address is blocked, as the end of a sentence: "it is …". */
export type Reserve =
  | "a loopback address"
  | "a private address"
  | "a link-local address"
  | "a multicast or broadcast address"
  | "the unspecified address"
  | "an address of a shared network (carrier-grade NAT)"
  | "a reserved address"
  | "not an IP address";

const RESERVES: Readonly<Record<string, Reserve>> = {
  loopback: "a loopback address",
  private: "a private address",
  uniqueLocal: "a private address",
  deprecatedSiteLocal: "a private address",
  linkLocal: "a link-local address",
  multicast: "a multicast or broadcast address",
  broadcast: "a multicast or broadcast address",
  unspecified: "the unspecified address",
  carrierGradeNat: "an address of a shared network (carrier-grade NAT)",
};

/** The only IPv6 block that IANA assigns to the public internet; everything else is special or unassigned. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** The well-known prefix of translators, which is followed by an IPv4 address (RFC 6052). */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("64:ff9b::"), 96];

/**
 * Why an address is not a public one, by the registries of special-purpose addresses (IANA, RFC 6890). An IPv6 address
 * with an embedded IPv4 address is treated as that one if it is mapped or translated by the well-known prefix (NAT64, RFC
 * 6052). Other translators choose where they embed it (RFC 8215), and tunnels are out of use (6to4, RFC 7526; ISATAP), so
 * all of those are reserved.
 *
 * @param text an IP address, with or without a zone (`fe80::1%eth0`).
 * @returns undefined for a public address.
 */
export function reserveOf(text: string): Reserve | undefined {
  if (!ipaddr.isValid(text)) return "not an IP address";
  // The parser mistakes the IPv4-compatible ::8.8.8.8 for the mapped ::ffff:8.8.8.8.
  const address = ipaddr.process(text.replace(/^::(?=\d+\.)/, "::0:"));
  const range = address.range();
  if (address instanceof ipaddr.IPv4) return reserveOfRange(range);
  if (address.match(NAT64))
    return reserveOfRange(new ipaddr.IPv4(address.toByteArray().slice(12)).range());
  const isPublic = address.match(GLOBAL_UNICAST) && !isIsatap(address);
  return RESERVES[range] ?? (isPublic ? reserveOfRange(range) : "a reserved address");
}

/**
 * Whether it is an ISATAP address (RFC 5214), whose last four bytes are an IPv4 address: …:0:5efe:a.b.c.d or
 * …:200:5efe:a.b.c.d, with any prefix.
 */
function isIsatap({ parts: [, , , , flags = 0, marker] }: ipaddr.IPv6): boolean {
  return (flags & 0xfcff) === 0 && marker === 0x5efe;
}

/** Everything that is not plain unicast is refused, including what the registries may add later. */
function reserveOfRange(range: string): Reserve | undefined {
  return range === "unicast" ? undefined : (RESERVES[range] ?? "a reserved address");
}

/**
 * Whether an address is in a network such as `10.0.0.0/8` or `fd00::/8`; false if either is invalid. IPv4-mapped IPv6
 * addresses are compared as IPv4, in both.
 */
export function isInNetwork(address: string, network: string): boolean {
  if (!ipaddr.isValid(address) || !ipaddr.isValidCIDR(network)) return false;
  const [writtenBase, writtenBits] = ipaddr.parseCIDR(network);
  const base = writtenBits < 96 ? writtenBase : ipaddr.process(writtenBase.toString());
  const bits = base.kind() === writtenBase.kind() ? writtenBits : writtenBits - 96;
  const parsedAddress = ipaddr.process(address);
  return parsedAddress.kind() === base.kind() && parsedAddress.match(base, bits);
}

export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}
