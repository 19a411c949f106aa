import { mkdtempSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import type { Calling } from "../src/browser/deadline.ts";
import { Drivers } from "../src/browser/driver/drivers.ts";
import { type Launched, type LaunchOptions, launch } from "../src/browser/driver/launch.ts";
import type { RunRequest } from "../src/browser/run/run.ts";
import { Tester, type TesterOptions } from "../src/browser/run/tester.ts";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import { RunStore } from "../src/browser/store/runs.ts";
import { ensureBrowser } from "./browser.mjs";
import { openGuard } from "./lab.ts";
import { atEnd, folderOf } from "./session.ts";

/** A run's request, as far as a test cares. */
type TestRequest = Partial<RunRequest> & { url: string };

/** A tester with its own folders. */
export type TestTester = ReturnType<typeof makeTester>;

export const launchOptions = (options: Partial<LaunchOptions> = {}): LaunchOptions => ({
  ...{ browser: "chromium", executablePath: undefined, cdpEndpoint: undefined },
  ...{ wsEndpoint: undefined, sandbox: true, env: process.env },
  ...options,
});

/** Starts a browser. */
export const ownBrowser = async (): Promise<Launched> =>
  launch(launchOptions(await ensureBrowser()));

/** Only hanging runs should time out. */
export const requestOf = (request: TestRequest): RunRequest => ({
  ...{ steps: [], assertions: [], devices: [], evidence: [], timeoutMs: 240_000 },
  ...request,
});

/** A call without a time limit. */
export const CALL: Calling = {
  signal: new AbortController().signal,
  leftMs: Number.POSITIVE_INFINITY,
  progress: () => undefined,
};

/** Drivers on this machine's browser. */
export async function makeDrivers(concurrency = 1): Promise<Drivers> {
  const folder = await folderOf("drivers");
  const drivers = new Drivers(
    {
      launch: launchOptions(await ensureBrowser()),
      rules: { allowHosts: [], denyHosts: [], allowPrivate: false },
      runsPlace: { folder },
      links: "file",
      ignoreHttpsErrors: false,
      concurrency,
    },
    {
      env: process.env,
      readUpload: () => Promise.reject(new Error("no uploads here")),
      changed: () => undefined,
      log: () => undefined,
    },
  );
  atEnd(() => drivers.close());
  return drivers;
}

/** A tester that is closed after the tests of the file; its guard is open. */
export function makeTester(options: Partial<TesterOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "refmcp-playwright-"));
  const tester = new Tester({
    // Each has its own: a page that a browser cannot close holds up no other file.
    launch: ownBrowser,
    policy: { guardFor: async () => openGuard },
    runs: new RunStore({ folder: join(folder, "runs") }),
    secrets: new Secrets([["PASSWORD", "hunter2 & more"]]),
    readUpload: async (path) => ({
      name: basename(path),
      mimeType: "text/plain",
      buffer: await readFile(path),
    }),
    ...{ ignoreHttpsErrors: false, concurrency: 4, log: () => undefined },
    ...options,
  });
  const run = (request: TestRequest, signal = CALL.signal) =>
    tester.run(requestOf(request), { ...CALL, signal });
  const close = async () => {
    await tester.close();
    await rm(folder, { recursive: true, force: true });
  };
  atEnd(close);
  return {
    tester,
    folder,
    run,
    /** The error of a run without a verdict. */
    async failure(request: TestRequest) {
      const thrown: unknown = await run(request).then(
        (report) => new Error(`there was a verdict: ${JSON.stringify(report)}`),
        (error: unknown) => error,
      );
      if (thrown instanceof ToolError) return thrown;
      throw thrown;
    },
    close,
  };
}
