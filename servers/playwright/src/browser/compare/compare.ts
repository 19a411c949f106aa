import { setMaxListeners } from "node:events";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { startDeadline } from "@refmcp/boundary";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { isBaseName } from "../language/values.ts";
import { type Calling, workMs } from "../session/deadline.ts";
import { type RunFolder, slugOf } from "../store/disk.ts";
import { CAPTURE, CAPTURE_PICTURE, type RunStore } from "../store/runs.ts";
import { type RunReport, type ShownArtifact, shownArtifact } from "../verdict/report.ts";
import type { RunRequest } from "../verdict/tester.ts";
import type { CaptureOf } from "./capture.ts";
import type { DifferenceRequest, PageDifference } from "./difference.ts";
import { type CompareRequest, loadOf, pagesOf, type Side, sideOf } from "./sides.ts";

/** Loads pages and compares captures, in other processes. */
interface Comparer {
  prepare(request: RunRequest): Promise<unknown>;
  run(request: RunRequest, call: Calling): Promise<Pick<RunReport, "failed_step">>;
  difference(request: DifferenceRequest, call: Calling): Promise<PageDifference>;
}

const lines = z.array(z.string()).optional();
const compared = z.object({
  page: z.string(),
  device: z.string(),
  changed: z.boolean(),
  facts: lines,
  tree: lines,
  regions: lines,
  moved: lines,
  added: lines,
  gone: lines,
  measured: lines,
  ignored: lines,
  not_shown: z.number().optional(),
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
  base: z.string().optional(),
  pages: z.array(compared),
  notes: z.array(z.string()).optional(),
});
export interface Comparison extends z.infer<typeof comparison> {
  readonly artifacts: readonly ShownArtifact[];
}

/** Each loads two versions. All at once, no page would be compared before the last one is loaded. */
const PAGES_AT_ONCE = 4;
const LATE = "not finished in time; compare fewer pages in one call";

/** Whether any difference counts as a change; times never do. */
const isChanged = ({ facts, tree, regions, moved, added, gone }: PageDifference): boolean =>
  [facts, tree, regions, moved, added, gone].some((list) => list.length > 0);

const UNCONFIRMED =
  "nothing; there was no time for a second load, so some of this may differ at each load";

/**
 * Compares two versions of pages on each device.
 *
 * @throws ToolError `invalid` for a wrong URL, sentence, device or name, `not_found` for an unknown run or base.
 */
export async function comparePages(
  comparer: Comparer,
  runs: RunStore,
  request: CompareRequest,
  call: Calling,
): Promise<Comparison> {
  const began = performance.now();
  const { keep } = request;
  if (keep !== undefined && !isBaseName(keep))
    throw new ToolError(
      "invalid",
      `keep ${JSON.stringify(keep.slice(0, 80))} is not a valid name.`,
      {
        hint: 'Use letters, digits, "-", "_" and ".": main.',
      },
    );
  if (request.before === undefined && keep === undefined)
    throw new ToolError("invalid", "before is missing.", {
      hint: "Pass the URL of the other version, a run_id or base:NAME. To keep the pages as a base for a later call, pass keep.",
    });
  const before =
    request.before === undefined ? undefined : await sideOf(runs, request.before, "before");
  const after = await sideOf(runs, request.after, "after");
  const pages = pagesOf(
    request,
    [before, after].filter((side) => side !== undefined),
  );
  for (const { path, device, steps } of pages)
    for (const side of [before, after])
      if (side !== undefined && "url" in side)
        await comparer.prepare(loadOf(side.url, { path, device, steps }, request.timeoutMs));
  const folder = await runs.begin();
  // Before the call's own time limit, so that the pages so far are returned.
  const { signal, end } = startDeadline(workMs(call), call.signal);
  setMaxListeners(0, signal);
  let done = 0;
  const waiting = [...pages.entries()];
  const limited: Calling = { signal, leftMs: Number.POSITIVE_INFINITY, progress: () => undefined };
  const scope = { comparer, folder, call: limited, request, before, after };
  try {
    const found: ComparedPage[] = [];
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, page] = next;
        const entry = await comparedPage(page, scope);
        call.signal.throwIfAborted();
        found[index] = entry;
        done += 1;
        call.progress(
          done,
          pages.length,
          `${entry.page} ${entry.changed ? "changed" : "compared"}`,
        );
      }
    };
    await Promise.all(Array.from({ length: PAGES_AT_ONCE }, worker));
    // A page in an unintended state must not become what later versions are measured by.
    if (keep !== undefined && found.every(({ error }) => error === undefined))
      await folder.write(`base-${keep}.json`, `${JSON.stringify({ keep })}\n`);
    const kept = await runs.kept(folder);
    const pictures = kept.filter(({ name }) => /\.(?:actual|expected|diff)\.png$/.test(name));
    const report = reportOf(found, { ...request, run_id: folder.id, began, notes: folder.notes() });
    await runs.finish(folder, report);
    return { ...report, artifacts: pictures.map(shownArtifact) };
  } catch (error) {
    waiting.length = 0;
    await runs.drop(folder.id);
    throw error;
  } finally {
    end();
  }
}

interface Scope {
  readonly comparer: Comparer;
  readonly folder: RunFolder;
  readonly call: Calling;
  readonly request: CompareRequest;
  readonly before: Side | undefined;
  readonly after: Side;
}

/** Compares one page on one device. If it differs, each version is loaded again, to find out what is chance. */
async function comparedPage(page: CaptureOf, scope: Scope): Promise<ComparedPage> {
  const { comparer, folder, call, request, before, after } = scope;
  const entry = { page: page.path === "" ? "/" : page.path, device: page.device };
  const stem = stemOf(page);
  const made: string[] = [];
  const stopped = new Map<Side, string>();
  const load = async (side: Side, name: string): Promise<string> => {
    if ("kept" in side) throw new TypeError("it is already loaded");
    const part = { run: folder.id, stem: `${stem}.${name}`, path: page.path };
    const { failed_step: step } = await comparer.run(
      { ...loadOf(side.url, page, request.timeoutMs), part },
      call,
    );
    if (step !== undefined) stopped.set(side, step);
    const at = join(folder.path, part.stem);
    made.push(at);
    return at;
  };
  const loadsOf = async (side: Side, name: string): Promise<string[]> => {
    if ("url" in side) return [await load(side, name)];
    const own = side.kept.filter((one) => one.path === page.path && one.device === page.device);
    return own.map(({ at }) => at).sort();
  };
  const again = async (side: Side, name: string, loads: string[], count = 2) => {
    if ("url" in side && loads.length < count)
      loads.push(await load(side, `${name}-${loads.length + 1}`));
  };
  let difference: PageDifference | undefined;
  try {
    const [old, fresh] = await bothOf(
      before === undefined ? [] : loadsOf(before, "before"),
      loadsOf(after, "after"),
    );
    if (request.keep !== undefined && "url" in after) await again(after, "after", fresh);
    // A base outlives the run that it was kept by.
    if (request.keep !== undefined && "kept" in after) await copyCaptures(fresh, folder, stem);
    const [oldStep, freshStep] = [before, after].map((side) => side && stopped.get(side));
    if (
      freshStep !== undefined &&
      (before === undefined || oldStep !== undefined || request.keep !== undefined)
    )
      throw new ToolError("invalid", `a step failed: ${freshStep}`);
    if (before === undefined) return { ...entry, changed: false };
    const compare = () =>
      comparer.difference({ run: folder.id, stem, before: old, after: fresh }, call);
    difference = await compare();
    if (oldStep !== undefined) difference.facts.push(`a step failed before: ${oldStep}`);
    if (freshStep !== undefined) difference.facts.push(`a step failed after: ${freshStep}`);
    for (const [count, isDoubtful] of [
      [2, (found: PageDifference) => isChanged(found) || found.measured.length > 0],
      // By chance, the times of equal pages can be apart in 1 of 3 cases with two loads each, in 1 of 10 with three.
      [3, (found: PageDifference) => found.measured.some((line) => line.endsWith(" ms"))],
    ] as const) {
      if (stopped.size > 0 || !isDoubtful(difference)) break;
      const loads = old.length + fresh.length;
      await bothOf(again(before, "before", old, count), again(after, "after", fresh, count));
      if (old.length + fresh.length > loads) difference = await compare();
    }
    return { ...entry, changed: isChanged(difference), ...difference };
  } catch (error) {
    if (error instanceof ToolError && error.code === "no_browser") throw error;
    if (difference !== undefined && call.signal.aborted) {
      const ignored = [...difference.ignored, UNCONFIRMED];
      return { ...entry, changed: isChanged(difference), ...difference, ignored };
    }
    const reason = call.signal.aborted
      ? LATE
      : error instanceof Error
        ? error.message
        : String(error);
    return { ...entry, changed: false, error: oneLine(clip(reason, 400)) };
  } finally {
    // Those of the after side stay: the run_id or the base can be compared later.
    for (const at of made.filter((one) => one.includes(`${stem}.before`)))
      for (const end of [CAPTURE, CAPTURE_PICTURE]) await rm(at + end, { force: true });
  }
}

/** Both results, or the first error once both have settled. */
async function bothOf<A, B>(a: A | Promise<A>, b: B | Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}

async function copyCaptures(
  all: readonly string[],
  folder: RunFolder,
  stem: string,
): Promise<void> {
  for (const [n, at] of all.entries())
    for (const end of [CAPTURE, CAPTURE_PICTURE])
      await folder.keep(`${stem}.after${n === 0 ? "" : `-${n + 1}`}${end}`, (path) =>
        copyFile(at + end, path),
      );
}

/** The beginning of a page's file names, which no other page of the call has. */
function stemOf({ path, device }: CaptureOf): string {
  const sum = [...path].reduce((hash, char) => (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0, 7);
  const slug = slugOf(path, "home");
  const isPlain = path === "" || path.replace(/^\//, "") === slug;
  return `${slug}${isPlain ? "" : `-${sum.toString(36)}`}-${slugOf(device, "device")}`;
}

interface Facts extends Pick<CompareRequest, "keep" | "before"> {
  readonly run_id: string;
  readonly began: number;
  readonly notes: string[];
}

function reportOf(pages: readonly ComparedPage[], { keep, before, run_id, began, notes }: Facts) {
  const count = (is: (page: ComparedPage) => unknown) => pages.filter(is).length;
  const changed = count((page) => page.changed);
  const failed = count(({ error }) => error !== undefined);
  const measured = count((page) => !page.changed && (page.measured ?? []).length > 0);
  const all = `${pages.length} ${pages.length === 1 ? "page" : "pages"}`;
  const isKept = keep !== undefined && failed === 0;
  const kept =
    keep === undefined ? "" : isKept ? `; kept as base:${keep}` : `; base:${keep} was not kept`;
  const rest = `${measured === 0 ? "" : `; ${measured} more measured differently`}${failed === 0 ? "" : `; ${failed} not compared`}`;
  const verdict =
    before === undefined
      ? `${all} loaded`
      : changed === 0
        ? `No difference in ${pages.length - failed} of ${all}`
        : `${changed} of ${all} changed`;
  return {
    summary: `${verdict}${rest}${kept}.`,
    changed,
    unchanged: pages.length - changed - failed,
    not_compared: failed,
    durationMs: Math.round(performance.now() - began),
    run_id,
    ...(isKept ? { base: `base:${keep}` } : {}),
    pages: pages.map(withoutEmpty),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

const withoutEmpty = (page: ComparedPage): ComparedPage =>
  compared.parse(
    Object.fromEntries(
      Object.entries(page).filter(([, value]) => !Array.isArray(value) || value.length > 0),
    ),
  );
