import { readFile, realpath, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { startDeadline } from "@refmcp/boundary";
import { oneLine } from "@refmcp/boundary/answer";
import { guardedLaunch } from "@refmcp/boundary/browser";
import { ForwardProxy, type NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Launched, Shared } from "../driver/launch.ts";
import { projectEnvironment, runInGroup } from "../process-group.ts";
import { proxySettings } from "../session/contexts.ts";
import type { RunFolder } from "../store/disk.ts";

/** How Lighthouse is found and gets a browser. */
export interface Lighthouse {
  readonly project: string | undefined;
  readonly launchShared: (shared: Shared) => Promise<Launched>;
}

export interface LighthouseOptions extends Pick<Lighthouse, "launchShared"> {
  readonly url: URL;
  readonly isMobile: boolean;
  readonly guard: NetworkGuard;
  readonly folder: RunFolder;
  /** The name of its report. */
  readonly file: string;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
  readonly ignoreHttpsErrors: boolean;
  readonly redact: (text: string) => string;
}

const CLI = join("cli", "index.js");

/** The command line of Lighthouse in the project, or of the one that PATH has; undefined if there is none. */
export async function lighthouseOf(
  project: string | undefined,
  path = process.env.PATH ?? "",
): Promise<string | undefined> {
  if (project !== undefined)
    try {
      const manifest = createRequire(join(project, "package.json")).resolve(
        "lighthouse/package.json",
      );
      return join(dirname(manifest), CLI);
    } catch {
      // The one of the machine.
    }
  for (const folder of path.split(delimiter).filter((one) => one !== "")) {
    // npm makes links; on Windows scripts, next to the package.
    const places = [join(folder, "lighthouse"), join(folder, "node_modules", "lighthouse", CLI)];
    for (const place of places) {
      const found = await realpath(place).catch(() => "");
      if (found.endsWith(join("lighthouse", CLI))) return found;
    }
  }
  return undefined;
}

/**
 * Runs Lighthouse on a page, in a separate browser behind the same network boundary. The report is kept as a file.
 *
 * @returns its scores from 0 to 100; why there are none.
 */
export async function runLighthouse(
  cli: string,
  {
    url,
    isMobile,
    guard,
    folder,
    file,
    milliseconds,
    signal,
    redact,
    ignoreHttpsErrors,
    launchShared,
  }: LighthouseOptions,
): Promise<Record<string, number> | string> {
  const proxy = await ForwardProxy.listen(guard);
  const limit = startDeadline(milliseconds, signal);
  let launched: Launched | undefined;
  try {
    const debuggingPort = await freePort();
    launched = await launchShared({
      debuggingPort,
      ignoreHttpsErrors,
      proxy: proxySettings(proxy),
    });
    if (!launched.local || launched.browser.browserType().name() !== "chromium")
      return "it needs a Chromium on this machine";
    // Otherwise Lighthouse would start a browser without the boundary.
    await fetch(`http://127.0.0.1:${debuggingPort}/json/version`, { signal: limit.signal });
    const scores: Record<string, number> = {};
    let problem: string | undefined;
    await folder.keep(file, async (path) => {
      const { code, output } = await runInGroup(
        [
          ...[cli, url.href, `--port=${debuggingPort}`, "--output=json", `--output-path=${path}`],
          ...["--quiet", "--no-enable-error-reporting", ...(isMobile ? [] : ["--preset=desktop"])],
          "--only-categories=performance,accessibility,best-practices,seo",
        ],
        { env: guardedLaunch(projectEnvironment()).env, signal: limit.signal },
      );
      const text = await readFile(path, "utf8").catch(() => "");
      if (text === "") {
        const lines = output.trim().split("\n");
        problem = `it ended with code ${code}: ${oneLine(lines.find((one) => /error/i.test(one)) ?? lines.at(-1) ?? "")}`;
        return;
      }
      const categories: unknown = JSON.parse(text).categories;
      for (const [name, category] of Object.entries(Object(categories))) {
        const { score } = Object(category);
        if (typeof score === "number") scores[name] = Math.round(100 * score);
      }
      await writeFile(path, redact(text), { mode: 0o600 });
    });
    return problem ?? scores;
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) return `it did not end within ${Math.round(milliseconds / 1_000)} s`;
    return error instanceof Error ? oneLine(error.message) : String(error);
  } finally {
    limit.end();
    await launched?.browser.close().catch(() => undefined);
    await proxy.close();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
