import { isIP } from "node:net";
import { type NetworkGuard, networkGuardOf } from "@refmcp/boundary/forward-proxy";
import {
  createUrlGuard,
  portOf,
  type Resolve,
  type UrlGuard,
  type UrlRules,
} from "@refmcp/boundary/url-guard";

export type NetworkRules = Pick<UrlRules, "allowHosts" | "denyHosts" | "allowPrivate">;

/**
 * What runs may reach: the public internet, the hosts of `--allow-host`, and this machine if the tested page is on
 * it. So a public page cannot reach loopback services, and a local page can reach its own.
 */
export class NetworkPolicy {
  readonly #public: UrlGuard;
  readonly #local: UrlGuard;

  /** @param resolve replaces the system's resolver in tests. */
  constructor(rules: NetworkRules, resolve?: Resolve) {
    this.#public = createUrlGuard(rules, resolve);
    this.#local = createUrlGuard({ ...rules, allowLoopback: true }, resolve);
  }

  /**
   * The guard of a run that starts at `url`.
   *
   * @throws ToolError `denied` if it may not be reached, `unavailable` if its name has no address.
   */
  async guardFor(url: URL): Promise<NetworkGuard> {
    const { addresses } = await this.#local.place(url.hostname, portOf(url));
    const isLocal = addresses.every(({ address }) => isLoopback(address));
    const guard = isLocal ? networkGuardOf(this.#local) : this.publicGuard();
    await guard.check(url);
    return guard;
  }

  /** The guard of a run that starts on a remote page. */
  publicGuard(): NetworkGuard {
    return networkGuardOf(this.#public);
  }
}

function isLoopback(address: string): boolean {
  return isIP(address) === 4 ? address.startsWith("127.") : /^(?:::1|::ffff:127\.)/i.test(address);
}
