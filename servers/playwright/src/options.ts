import { defineOptions } from "@refmcp/core";

export const options = defineOptions({
  project: {
    type: "directory",
    heading: "Your tests",
    description: "The folder of your own Playwright project, whose specs pw_list_specs and pw_run_specs use.",
  },
  baselineDir: {
    type: "directory",
    heading: "Your tests",
    description:
      "Where visual baselines lie, best in your repository. Default: baselines in the platform's data directory.",
  },
  outputDir: {
    type: "directory",
    heading: "Your tests",
    description:
      "Where artifacts of runs are kept: 50 runs, 500 MB, 7 days at most. Default: the platform's cache directory.",
  },
  executablePath: {
    type: "file",
    heading: "Browser",
    description: "The browser's program. Default: the first that is found on this machine.",
  },
  cdpEndpoint: {
    type: "secret",
    valueName: "URL",
    heading: "Browser",
    description: "Use a running Chromium at this address of its debugging port.",
  },
  wsEndpoint: {
    type: "secret",
    valueName: "URL",
    heading: "Browser",
    description: "Use a remote Playwright server or a grid at this ws:// or wss:// address.",
  },
  sandbox: {
    type: "flag",
    default: true,
    heading: "Browser",
    description: "Chromium's sandbox; it is always off for root, for whom it does not work.",
  },
  concurrency: {
    type: "integer",
    min: 1,
    max: 32,
    default: 4,
    heading: "Browser",
    description: "How many pages are tested at the same time.",
  },
  allowEvaluate: {
    type: "flag",
    heading: "Browser",
    description:
      "With --toolsets browse, offer pw_browse_evaluate, which runs JavaScript of the model in the page of a session.",
  },
  ignoreHttpsErrors: {
    type: "flag",
    heading: "Network",
    description: "Accept certificates that are not trusted, as test servers have them.",
  },
  allowHosts: {
    type: "string",
    list: true,
    flag: "allow-host",
    valueName: "HOST",
    heading: "Network",
    description:
      "A host that may be tested although its address is private: name, *.name, address, network, each with :port.",
  },
  denyHosts: {
    type: "string",
    list: true,
    flag: "deny-host",
    valueName: "HOST",
    heading: "Network",
    description: "A host that is never reached.",
  },
  allowPrivate: {
    type: "flag",
    heading: "Network",
    description: "Every address may be reached, those of private networks and of the cloud's metadata too.",
  },
});
