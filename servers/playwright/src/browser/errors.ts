import { errorsOf, type ToolError } from "@refmcp/boundary/answer";

/** The errors with a code, and what to do next where that is always the same. */
export const failure = errorsOf({
  grammar: [
    "invalid",
    "The language is described in the resource pw://help/assertions; pw_inspect_page returns a page's targets, ready to use.",
  ],
  refused: ["denied"],
  /** The page or its browser has ended. */
  crash: ["unavailable", "The next run starts a new one."],
  /** The driver ended with another run. */
  restarted: ["unavailable", "Run it again."],
  memory: [
    "too_large",
    "The page logs, sends or shows too much at once. Fix it, or test part of it.",
  ],
  no_browser: ["unavailable"],
  unreachable: [
    "unavailable",
    "Check that the web server is running and that host and port are correct.",
  ],
  no_page: ["invalid", "Pass the URL of a page."],
  secret: ["denied"],
  project: ["invalid", "Fix the project's configuration or its specs, then call again."],
  no_playwright: ["unavailable", "Install it there: npm install -D @playwright/test"],
  no_project: [
    "unavailable",
    "Start the server with --project and the project's folder. To test a page without specs call pw_run_test.",
  ],
});

export const browserGone = (cause: unknown): ToolError =>
  failure("crash", "The browser ended during the run.", { cause });
