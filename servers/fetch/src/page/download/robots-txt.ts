/** A site's robots.txt, asked before a program fetches a page, and kept for a day. */
import { ToolError } from "@refmcp/boundary/answer";
import type { HttpClient } from "@refmcp/boundary/http-client";
import { isAllowed, ROBOTS_BYTES } from "./robots-rules.ts";

/** The cached state of a site's robots.txt, and when it expires (milliseconds since 1970). */
interface SiteRules {
  readonly rules: string | undefined;
  readonly status: number;
  readonly until: number;
}

/** RFC 9309, 2.4: cached for at most a day. A failed request is repeated sooner. */
const DAY_MS = 86_400_000;
const SOON_MS = 60_000;
const MAX_SITES = 500;

/** Checks each site's robots.txt, requested once a day, before a program fetches a page. */
export class RobotsTxt {
  readonly #client: HttpClient;
  readonly #sites = new Map<string, SiteRules>();

  constructor(client: HttpClient) {
    this.#client = client;
  }

  /**
   * @throws ToolError `denied` if robots.txt disallows the page or cannot be fetched (RFC 9309, 2.3.1.4: status 5xx
   * disallows everything); what the client throws.
   */
  async check(url: URL, userAgent: string, signal: AbortSignal): Promise<void> {
    const { rules, status } = await this.#site(url.origin, userAgent, signal);
    const file = `${url.origin}/robots.txt`;
    const hint =
      "Do not try other URLs of this site. The user can allow this with --ignore-robots-txt, or add the page with the fetch prompt.";
    const problem =
      rules === undefined
        ? `returns status ${status}, which disallows the whole site for now (RFC 9309)`
        : `disallows fetching ${url.pathname}`;
    if (rules === undefined || !isAllowed(rules, userAgent, `${url.pathname}${url.search}`))
      throw new ToolError("denied", `${file} ${problem}.`, { hint });
  }

  async #site(origin: string, userAgent: string, signal: AbortSignal): Promise<SiteRules> {
    const site = this.#sites.get(origin);
    if (site !== undefined && site.until > Date.now()) return site;
    const { status, body } = await this.#client.get(`${origin}/robots.txt`, {
      headers: { "user-agent": userAgent, accept: "text/plain, */*;q=0.5" },
      bytes: ROBOTS_BYTES,
      signal,
    });
    // RFC 9309, 2.3.1.3: if there is none (4xx), everything may be fetched.
    const isRead = status >= 200 && status < 300;
    const isOpen = status >= 400 && status < 500;
    const rules = isRead ? body.toString("utf8") : isOpen ? "" : undefined;
    const fresh = { rules, status, until: Date.now() + (rules === undefined ? SOON_MS : DAY_MS) };
    const [oldest] = this.#sites.keys();
    if (this.#sites.size >= MAX_SITES && oldest !== undefined) this.#sites.delete(oldest);
    this.#sites.set(origin, fresh);
    return fresh;
  }
}
