import ipaddr from "ipaddr.js";

/** Why an address may not be reached, as the end of a sentence: "it is …". */
export type Reserve =
  | "a loopback address"
  | "a private address"
  | "a link-local address"
  | "a multicast or broadcast address"
  | "the unspecified address"
  | "an address of a shared network (carrier-grade NAT)"
  | "a reserved address"
  | "no IP address";

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

/** IPv6 prefixes that carry an IPv4 address, and at which byte: what they lead to is judged, too. */
const CARRIERS: readonly { readonly prefix: [ipaddr.IPv6, number]; readonly at: number }[] = [
  // IPv4-compatible (RFC 4291, 2.5.5.1) and IPv4-translated (RFC 6145).
  { prefix: [ipaddr.IPv6.parse("::"), 96], at: 12 },
  { prefix: [ipaddr.IPv6.parse("::ffff:0:0:0"), 96], at: 12 },
  // NAT64, the well-known prefix and the one for local use (RFC 6052, RFC 8215).
  { prefix: [ipaddr.IPv6.parse("64:ff9b::"), 96], at: 12 },
  { prefix: [ipaddr.IPv6.parse("64:ff9b:1::"), 48], at: 12 },
  // 6to4 (RFC 3056).
  { prefix: [ipaddr.IPv6.parse("2002::"), 16], at: 2 },
];

/**
 * What keeps an address from being one of the public internet, by the registries of special addresses (IANA, RFC 6890).
 * An IPv4 address inside an IPv6 one (mapped, compatible, NAT64, 6to4) counts as the IPv4 address that it leads to.
 *
 * @param text an IP address as the system writes it, with or without a zone (`fe80::1%eth0`).
 * @returns undefined for a public address.
 */
export function reserveOf(text: string): Reserve | undefined {
  if (!ipaddr.isValid(text)) return "no IP address";
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return reserveOfRange(address.range());
  const own = RESERVES[address.range()];
  if (own !== undefined) return own;
  const carrier = CARRIERS.find(({ prefix }) => address.match(prefix));
  if (carrier !== undefined) {
    const inner = new ipaddr.IPv4(address.toByteArray().slice(carrier.at, carrier.at + 4));
    return reserveOfRange(inner.range());
  }
  return reserveOfRange(address.range());
}

/** Everything that is not plainly unicast is refused, also what a later registry may add. */
function reserveOfRange(range: string): Reserve | undefined {
  return range === "unicast" ? undefined : (RESERVES[range] ?? "a reserved address");
}

/** Whether an address lies in a network such as `10.0.0.0/8` or `fd00::/8`; false where one of them is none. */
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
