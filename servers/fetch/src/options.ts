import { defineOptions } from "@refmcp/core";
import { parseHostRule } from "@refmcp/core/url-guard";

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
      return "takes a name (example.org), all below one (*.example.org), an address, host:port or a network (10.0.0.0/8)";
    }
  },
} as const;

export const options = defineOptions({
  allowHost: {
    ...hosts,
    description: "Hosts that may be reached although their address is private or this machine's.",
  },
  denyHost: { ...hosts, description: "Hosts that are never reached, whatever else is allowed." },
  allowPrivate: {
    type: "flag",
    heading: "Boundary",
    description:
      "Reach private addresses and this machine too: a page can then send the model to your network.",
  },
  ignoreRobotsTxt: {
    type: "flag",
    heading: "Requests",
    description: "Fetch pages that a site's robots.txt closes to programs.",
  },
  render: {
    type: "flag",
    heading: "Requests",
    description:
      "Open pages that have next to no text without JavaScript in a headless Chrome, Edge or Chromium of this machine, within the same boundary. Needs the package playwright-core; headers of --header are not sent by the browser.",
  },
  userAgent: {
    type: "string",
    valueName: "TEXT",
    heading: "Requests",
    description:
      "The User-Agent of all requests. Default: those of the official server, one for the model and one for the user.",
    check: (value) =>
      /^[\x20-\x7e]{1,500}$/.test(value) ? undefined : "takes 1 to 500 printable ASCII characters",
  },
  header: {
    type: "secret",
    named: "repeated",
    valueName: "HOST=NAME: VALUE",
    heading: "Requests",
    description:
      "A header for one host, for example a token: docs.example.org=Authorization: Bearer …; it goes nowhere else.",
    check: (value) =>
      /^[!#$%&'*+.^_`|~\w-]+:[ \t]*[\t\x20-\x7e]*$/.test(value) ? undefined : "takes Name: value in ASCII",
  },
  proxyUrl: {
    type: "url",
    heading: "Requests",
    description:
      "Send everything through this HTTP proxy; it resolves the names, so it has to keep the boundary too.",
  },
  caFile: {
    type: "file",
    heading: "Requests",
    description: "Certificates to trust beside the known ones, in PEM, for sites of your own network.",
  },
  maxBytes: {
    type: "integer",
    min: 1_000,
    max: 100_000_000,
    default: 10_000_000,
    heading: "Limits",
    description: "Bytes of one download after decompression; what is longer is cut.",
  },
  timeout: {
    type: "integer",
    min: 1,
    max: 300,
    default: 30,
    heading: "Limits",
    description: "Seconds for one download, redirects included.",
  },
});
