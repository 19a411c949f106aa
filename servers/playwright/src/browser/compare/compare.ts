import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startDeadline } from "@refmcp/boundary";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { type Calling, workMs } from "../deadline.ts";
import type { Device } from "../devices.ts";
import { type ShownArtifact, shownArtifact } from "../run/report.ts";
import type { ParsedTest } from "../run/run.ts";
import type { Tester } from "../run/tester.ts";
import { type RunFolder, slugOf } from "../store/disk.ts";
import type { RunStore } from "../store/runs.ts";
import { type Capture, capture } from "./capture.ts";
import { differenceOf } from "./difference.ts";

export interface CompareRequest {
  readonly url: string;
  readonly base: string;
  /** Keeps the page as the base instead of comparing it. */
  readonly keep: boolean;
  readonly paths: readonly string[];
  readonly steps: readonly string[];
  readonly devices: readonly string[];
  readonly timeoutMs: number;
}

const lines = z.array(z.string()).optional();
const compared = z.object({
  page: z.string(),
  device: z.string(),
  changed: z.boolean(),
  ...{ lines, regions: lines, ignored: lines },
  error: z.string().optional(),
});
type ComparedPage = z.infer<typeof compared>;

export const comparison = z.object({
  summary: z.string(),
  changed: z.number(),
  unchanged: z.number(),
  not_compared: z.number(),
  durationMs: z.number(),
  run_id: z.string(),
  pages: z.array(compared),
  notes: z.array(z.string()).optional(),
});
interface Comparison extends z.infer<typeof comparison> {
  readonly artifacts: readonly ShownArtifact[];
}

const MAX_PAGES = 60;
const LATE = "not finished in time; compare fewer pages in one call";

/** What a base was kept of. */
type Base = Pick<CompareRequest, "paths" | "steps" | "devices"> & { readonly folder: string };

interface Page {
  readonly path: string;
  readonly device: Device;
  readonly test: ParsedTest;
  /** The beginning of its file names. */
  readonly stem: string;
}

interface Scope {
  readonly tester: Tester;
  readonly folder: RunFolder;
  readonly call: Calling;
  readonly request: CompareRequest;
  readonly base: Base | undefined;
}

/**
 * Keeps pages as a base, or compares them with one.
 *
 * @throws ToolError `invalid` for a wrong URL, sentence, device or name, `not_found` for an unknown base.
 */
export async function comparePages(
  tester: Tester,
  request: CompareRequest,
  call: Calling,
): Promise<Comparison> {
  const began = performance.now();
  const { runs, secrets } = tester.options;
  if (!/^[\w-][\w.-]{0,79}$/.test(request.base))
    throw new ToolError("invalid", `base ${JSON.stringify(request.base)} is not a valid name.`, {
      hint: 'Use letters, digits, "-", "_" and ".": main.',
    });
  const base = request.keep ? undefined : await baseOf(runs, request.base);
  const or = (asked: readonly string[], base: readonly string[] = []) =>
    asked.length > 0 ? asked : base;
  const asked = {
    ...request,
    paths: [...new Set(or(or(request.paths, base?.paths), [""]))],
    devices: [...new Set(or(or(request.devices, base?.devices), ["desktop"]))],
    steps: or(request.steps, base?.steps),
  };
  const pages = await pagesOf(tester, asked, base);
  const folder = await runs.begin(secrets.redact);
  // Before the call's own time limit, so that the pages so far are returned.
  const { signal, abort, end } = startDeadline(workMs(call), call.signal);
  setMaxListeners(0, signal);
  const limited: Calling = { signal, leftMs: Number.POSITIVE_INFINITY, progress: () => undefined };
  const scope = { tester, folder, call: limited, request: asked, base };
  try {
    let done = 0;
    const entries = await Promise.all(
      pages.map(async (page) => {
        const entry = await comparedPage(page, scope);
        call.signal.throwIfAborted();
        done += 1;
        call.progress(done, pages.length, `${entry.page} [${entry.device}]`);
        return entry;
      }),
    );
    const count = (is: (page: ComparedPage) => unknown) => entries.filter(is).length;
    const [changed, failed] = [count((entry) => entry.changed), count((entry) => entry.error)];
    // A page in an unintended state must not become what later versions are measured by.
    const { paths, steps, devices } = asked;
    if (request.keep && failed === 0)
      await folder.write(nameOf(request.base), JSON.stringify({ paths, steps, devices }));
    const artifacts = (await runs.kept(folder)).filter(({ name }) => PICTURE.test(name));
    const notes = folder.notes();
    const report = secrets.redactIn({
      summary: summaryOf(request, entries.length, changed, failed),
      ...{ changed, unchanged: entries.length - changed - failed, not_compared: failed },
      durationMs: Math.round(performance.now() - began),
      run_id: folder.id,
      pages: entries,
      ...(notes.length === 0 ? {} : { notes }),
    });
    await runs.finish(folder, report);
    return { ...report, artifacts: artifacts.map(shownArtifact) };
  } catch (error) {
    abort(new ToolError("cancelled", "The comparison ended."));
    await runs.drop(folder.id);
    throw secrets.redactError(error);
  } finally {
    end();
  }
}

const nameOf = (base: string) => `base-${base}.json`;
const PICTURE = /\.(?:actual|expected|diff)\.png$/;

/** @throws ToolError `not_found` for an unknown base. */
async function baseOf(runs: RunStore, name: string): Promise<Base> {
  const id = await runs.newestWith(nameOf(name));
  if (id === undefined)
    throw new ToolError("not_found", `There is no base ${JSON.stringify(name)}.`, {
      hint: "Keep one first: call pw_compare with keep before the change. Bases are kept with the runs, 50 at most, for 7 days.",
    });
  const folder = join(runs.folder, id);
  return { folder, ...JSON.parse(await readFile(join(folder, nameOf(name)), "utf8")) };
}

/** @throws ToolError `invalid` for too many pages or other steps than the base's, `not_found` for a page that it lacks. */
async function pagesOf(tester: Tester, request: CompareRequest, base?: Base): Promise<Page[]> {
  const { paths, devices, steps } = request;
  if (base !== undefined && JSON.stringify(steps) !== JSON.stringify(base.steps))
    throw new ToolError("invalid", "The base was kept after other steps.", {
      hint: `Leave steps out, or pass the same: ${JSON.stringify(base.steps).slice(0, 500)}.`,
    });
  const lost = [
    ...paths.filter((path) => base?.paths.includes(path) === false),
    ...devices.filter((device) => base?.devices.includes(device) === false),
  ];
  if (lost.length > 0)
    throw new ToolError("not_found", `The base has no ${oneLine(lost.join(", ")).slice(0, 200)}.`, {
      hint: `It has ${[...(base?.paths ?? []), ...(base?.devices ?? [])].join(", ").slice(0, 500)}.`,
    });
  if (paths.length * devices.length > MAX_PAGES)
    throw new ToolError("invalid", `At most ${MAX_PAGES} pages and devices are allowed at once.`);
  const first = await tester.prepare({ url: request.url, steps, assertions: [], devices });
  const basePaths = base?.paths ?? paths;
  return paths.flatMap((path) => {
    const test = { ...first, url: urlOf(first.url, path) };
    const name = `${slugOf(path, "home")}${basePaths.length > 1 ? `-${basePaths.indexOf(path) + 1}` : ""}`;
    return first.devices.map((device) => {
      const stem = `${name}-${slugOf(device.name, "device")}`;
      return { path, device, test, stem };
    });
  });
}

/** The URL of a page, below that of its version. */
function urlOf(base: URL, path: string): URL {
  if (path === "") return base;
  const folder = new URL(base);
  if (!/\/$|\.[a-z0-9]+$/i.test(folder.pathname)) folder.pathname += "/";
  const relative = path.replace(/^\/+/, "");
  const url = URL.canParse(relative, folder) ? new URL(relative || "./", folder) : undefined;
  if (url?.origin === base.origin) return url;
  throw new ToolError("invalid", `paths: ${JSON.stringify(path.slice(0, 80))} is not a path.`, {
    hint: 'Pass paths relative to the URL: "/about", "?page=2", "#/active".',
  });
}

/** Keeps or compares one page on one device. If it differs, it is loaded again, to find out what is chance. */
async function comparedPage(page: Page, scope: Scope): Promise<ComparedPage> {
  const { folder, call, base } = scope;
  const { path, device, stem } = page;
  const entry = { page: path === "" ? "/" : path, device: device.name, changed: false };
  try {
    const first = await load(page, scope);
    if (base === undefined) {
      await keep(folder, stem, first);
      await keep(folder, `${stem}-2`, await load(page, scope));
      return entry;
    }
    const old = [await stored(base.folder, stem), await stored(base.folder, `${stem}-2`)];
    let difference = await differenceOf(old, [first]);
    if (difference.lines.length + difference.regions.length > 0) {
      const second = await load(page, scope).catch((error: unknown) => {
        if (!call.signal.aborted) throw error;
      });
      if (second !== undefined) difference = await differenceOf(old, [first, second]);
      else difference.ignored.push("nothing: there was no time for a second load");
    }
    const { diff, ...lists } = difference;
    for (const [end, png] of Object.entries({ actual: first.png, expected: old[0]?.png, diff }))
      if (lists.regions.length > 0 && png !== undefined)
        await folder.write(`${stem}.${end}.png`, png);
    const changed = lists.lines.length + lists.regions.length > 0;
    const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
    return { ...entry, changed, ...Object.fromEntries(filled) };
  } catch (error) {
    if (error instanceof ToolError && error.code === "no_browser") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { ...entry, error: call.signal.aborted ? LATE : oneLine(clip(reason, 400)) };
  }
}

async function load({ test, device }: Page, scope: Scope): Promise<Capture> {
  const { tester, folder, call, request } = scope;
  let loaded: Capture | undefined;
  const run = { ...request, assertions: [], evidence: [] };
  const { failed_step: failed } = await tester.runOn(device, {
    ...{ request: run, test, call, folder },
    visit: async (session) => {
      loaded = await capture(session);
    },
  });
  if (loaded !== undefined) return loaded;
  throw new ToolError("invalid", `a step failed: ${failed}`);
}

async function keep(folder: RunFolder, stem: string, { lines, png }: Capture): Promise<void> {
  await folder.write(`${stem}.capture.json`, JSON.stringify(lines));
  await folder.write(`${stem}.capture.png`, png);
}

const stored = async (folder: string, stem: string): Promise<Capture> => ({
  lines: JSON.parse(await readFile(join(folder, `${stem}.capture.json`), "utf8")),
  png: await readFile(join(folder, `${stem}.capture.png`)),
});

function summaryOf({ keep, base }: CompareRequest, count: number, changed: number, failed: number) {
  const pages = `${count} ${count === 1 ? "page" : "pages"}`;
  const lost = failed === 0 ? "" : `; ${failed} not ${keep ? "loaded" : "compared"}`;
  if (keep) return `${pages} loaded${lost}; ${base} ${failed === 0 ? "is kept" : "was not kept"}.`;
  if (changed > 0) return `${changed} of ${pages} changed${lost}.`;
  return `No difference in ${count - failed} of ${pages}${lost}.`;
}

/** The answer for people and for hosts without structured content. */
export function comparisonText(report: Comparison): string {
  const { summary, pages, run_id, notes = [], artifacts, durationMs } = report;
  const blocks = pages.flatMap(({ page, device, changed, error, ...rest }) => [
    ...(changed ? [`${page} [${device}]: changed`] : []),
    ...(error === undefined ? [] : [`${page} [${device}]: ${error}`]),
    ...(rest.lines ?? []).map((line) => `  ${line}`),
    ...(rest.regions ?? []).map((line) => `  picture: ${line}`),
    ...(rest.ignored ?? []).map((line) => `  ignored: ${line}`),
  ]);
  const facts = `${durationMs} ms, run ${run_id}`;
  const files = artifacts.map(({ path }) => path);
  return [summary, ...blocks, ...notes.map((note) => `note: ${note}`), facts, ...files].join("\n");
}
