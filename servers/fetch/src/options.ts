/** What the user can set; the command line, the environment and the documentation are made of this table. */
import { parseHostRule } from "@refmcp/boundary/url-guard";
import { defineOptions } from "@refmcp/core";

const hosts = {
  type: "string",
  list: true,
  valueName: "HOST",
  heading: "Boundary",
  check(value: string) {
    try {
      parseHostRule(value);
      return undefined;
    } catch {
      return "takes a name (example.org), its subdomains (*.example.org), an address, host:port or a network (10.0.0.0/8)";
    }
  },
} as const;

export const options = defineOptions({
  allowHost: {
    ...hosts,
    form: {
      title: "Allowed private hosts",
      help: "Hosts in your own network or on this machine that may be opened, separated by commas: wiki.internal, localhost:3000. Public pages need no entry.",
    },
    description: "Private or local hosts that may be contacted.",
  },
  denyHost: { ...hosts, description: "Hosts that are always blocked, even if allowed elsewhere." },
  allowPrivate: {
    type: "flag",
    heading: "Boundary",
    description:
      "Also allow private addresses and this machine. A page can then make the model access your network.",
  },
  ignoreRobotsTxt: {
    type: "flag",
    heading: "Requests",
    description: "Fetch pages even if the site's robots.txt disallows it.",
  },
  userAgent: {
    type: "string",
    valueName: "TEXT",
    heading: "Requests",
    description:
      "The User-Agent of all requests. Default: ModelContextProtocol, the official server's name, with this project's URL.",
    check: (value) =>
      /^[\x20-\x7e]{1,500}$/.test(value) ? undefined : "takes 1 to 500 printable ASCII characters",
  },
  header: {
    type: "secret",
    named: "repeated",
    valueName: "HOST=NAME: VALUE",
    heading: "Requests",
    description:
      "A header for one host, for example a token: docs.example.org=Authorization: Bearer …. It is sent to no other host, and only over https; write http://HOST to also send it unencrypted.",
    check: (value) =>
      /^[!#$%&'*+.^_`|~\w-]+:[ \t]*[\t\x20-\x7e]*$/.test(value)
        ? undefined
        : "takes Name: value in ASCII",
  },
  proxyUrl: {
    type: "url",
    heading: "Requests",
    description:
      "Send all requests through this HTTP proxy. The proxy resolves host names, so it must also block private addresses.",
  },
  caFile: {
    type: "file",
    heading: "Requests",
    description:
      "PEM file with additional certificates to trust, for example for sites on your network.",
  },
  maxBytes: {
    type: "integer",
    min: 1_000,
    max: 100_000_000,
    default: 10_000_000,
    heading: "Limits",
    description: "Maximum bytes of a download after decompression. Longer downloads are truncated.",
  },
  timeout: {
    type: "integer",
    min: 1,
    max: 300,
    default: 30,
    heading: "Limits",
    description: "Maximum seconds for one download, including redirects.",
  },
});
