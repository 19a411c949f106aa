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

/** The only IPv6 space that IANA assigns to the public internet; all other space is special or unassigned. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/**
 * Public IPv6 prefixes that carry an IPv4 address, and at which byte: what they lead to is judged. The prefix for local
 * translators (64:ff9b:1::/48, RFC 8215) is not public: where it carries the address is the translator's own choice.
 */
const CARRIERS: readonly { readonly prefix: [ipaddr.IPv6, number]; readonly at: number }[] = [
  // NAT64, the well-known prefix (RFC 6052).
  { prefix: [ipaddr.IPv6.parse("64:ff9b::"), 96], at: 12 },
  // 6to4 (RFC 3056).
  { prefix: [ipaddr.IPv6.parse("2002::"), 16], at: 2 },
];

/**
 * What keeps an address from being one of the public internet, by the registries of special addresses (IANA, RFC 6890).
 * An IPv4 address inside an IPv6 one (mapped, NAT64, 6to4, ISATAP) counts as the IPv4 address it leads to.
 *
 * @param text an IP address as the system writes it, with or without a zone (`fe80::1%eth0`).
 * @returns undefined for a public address.
 */
export function reserveOf(text: string): Reserve | undefined {
  if (!ipaddr.isValid(text)) return "not an IP address";
  // The parser takes the IPv4-compatible ::8.8.8.8 for the mapped ::ffff:8.8.8.8.
  const address = ipaddr.process(text.replace(/^::(?=\d+\.)/, "::0:"));
  if (address instanceof ipaddr.IPv4) return reserveOfRange(address.range());
  const own = RESERVES[address.range()];
  if (own !== undefined) return own;
  const carrier = CARRIERS.find(({ prefix }) => address.match(prefix));
  for (const at of [carrier?.at, isIsatap(address) ? 12 : undefined]) {
    const inner = at === undefined ? undefined : new ipaddr.IPv4(address.toByteArray().slice(at, at + 4));
    const reserve = inner && reserveOfRange(inner.range());
    if (reserve !== undefined) return reserve;
  }
  if (carrier !== undefined) return undefined;
  return address.match(GLOBAL_UNICAST) ? reserveOfRange(address.range()) : "a reserved address";
}

/** Whether a tunnel of RFC 5214 leads to the last four bytes: …:0:5efe:a.b.c.d or …:200:5efe:a.b.c.d, in any prefix. */
function isIsatap({ parts: [, , , , flags = 0, marker] }: ipaddr.IPv6): boolean {
  return (flags & 0xfcff) === 0 && marker === 0x5efe;
}

/** Everything that is not plainly unicast is refused, also what a later registry may add. */
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

/** Whether a text is a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}
