import { defineOptions } from "@refmcp/core";

const BROWSERS = ["chromium", "firefox", "webkit"] as const;

export const options = defineOptions({
  project: {
    type: "directory",
    heading: "Your tests",
    description:
      "The folder of your own Playwright project; pw_list_specs and pw_run_specs use its specs.",
  },
  outputDir: {
    type: "directory",
    heading: "Your tests",
    description:
      "Where artifacts are kept, at most 50 runs and 7 days. Default: the platform's cache directory.",
  },
  browser: {
    type: "enum",
    values: BROWSERS,
    default: "chromium",
    heading: "Browser",
    description:
      "The browser to test in. Firefox and WebKit are Playwright's builds: npx playwright install firefox.",
  },
  executablePath: {
    type: "file",
    heading: "Browser",
    description: "The browser's executable. Default: the first one found on this machine.",
  },
  cdpEndpoint: {
    type: "secret",
    valueName: "URL",
    heading: "Browser",
    description: "Connect to a running Chromium by the URL of its debugging port.",
  },
  wsEndpoint: {
    type: "secret",
    valueName: "URL",
    heading: "Browser",
    description: "Connect to a remote Playwright server or grid at this ws:// or wss:// URL.",
  },
  sandbox: {
    type: "flag",
    default: true,
    heading: "Browser",
    description:
      "Use Chromium's sandbox. It is always off when the server runs as root, because it does not work there.",
  },
  concurrency: {
    type: "integer",
    min: 1,
    max: 32,
    heading: "Browser",
    description:
      "How many pages to test at the same time. Default: one per processor core, from 2 to 4.",
  },
  allowEvaluate: {
    type: "flag",
    heading: "Browser",
    description:
      "With --toolsets browse, also offer pw_browse_evaluate: the model can run JavaScript in a session's page.",
  },
  ignoreHttpsErrors: {
    type: "flag",
    heading: "Network",
    description: "Accept untrusted certificates, such as those of test servers.",
  },
  allowHosts: {
    type: "string",
    list: true,
    flag: "allow-host",
    valueName: "HOST",
    heading: "Network",
    description:
      "A private host that may be tested: name, *.name, address or network, each optionally with :port.",
  },
  denyHosts: {
    type: "string",
    list: true,
    flag: "deny-host",
    valueName: "HOST",
    heading: "Network",
    description: "A host that is always blocked.",
  },
  allowPrivate: {
    type: "flag",
    heading: "Network",
    description: "Allow every address, including private networks and cloud metadata services.",
  },
});
