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

/**
 * Public IPv6 prefixes with an embedded IPv4 address, and its byte offset: the embedded address is what is checked. The
 * prefix for local translators (64:ff9b:1::/48, RFC 8215) is not public, since each translator chooses where it embeds
 * the address.
 */
const CARRIERS: readonly { readonly prefix: [ipaddr.IPv6, number]; readonly at: number }[] = [
  // NAT64, the well-known prefix (RFC 6052).
  { prefix: [ipaddr.IPv6.parse("64:ff9b::"), 96], at: 12 },
  // 6to4 (RFC 3056).
  { prefix: [ipaddr.IPv6.parse("2002::"), 16], at: 2 },
];

/**
 * Why an address is not a public one, by the registries of special-purpose addresses (IANA, RFC 6890). An IPv6 address
 * that embeds an IPv4 address (mapped, NAT64, 6to4, ISATAP) is treated as that IPv4 address.
 *
 * @param text an IP address, with or without a zone (`fe80::1%eth0`).
 * @returns undefined for a public address.
 */
export function reserveOf(text: string): Reserve | undefined {
  if (!ipaddr.isValid(text)) return "not an IP address";
  // The parser mistakes the IPv4-compatible ::8.8.8.8 for the mapped ::ffff:8.8.8.8.
  const address = ipaddr.process(text.replace(/^::(?=\d+\.)/, "::0:"));
  if (address instanceof ipaddr.IPv4) return reserveOfRange(address.range());
  const own = RESERVES[address.range()];
  if (own !== undefined) return own;
  const carrier = CARRIERS.find(({ prefix }) => address.match(prefix));
  for (const at of [carrier?.at, isIsatap(address) ? 12 : undefined]) {
    const inner =
      at === undefined ? undefined : new ipaddr.IPv4(address.toByteArray().slice(at, at + 4));
    const reserve = inner && reserveOfRange(inner.range());
    if (reserve !== undefined) return reserve;
  }
  if (carrier !== undefined) return undefined;
  return address.match(GLOBAL_UNICAST) ? reserveOfRange(address.range()) : "a reserved address";
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

/** Whether an address is in a network such as `10.0.0.0/8` or `fd00::/8`; false if either is invalid. */
export function isInNetwork(address: string, network: string): boolean {
  if (!ipaddr.isValid(address) || !ipaddr.isValidCIDR(network)) return false;
  const judged = ipaddr.process(address);
  const [base, bits] = ipaddr.parseCIDR(network);
  return judged.kind() === base.kind() && judged.match(base, bits);
}

export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}
