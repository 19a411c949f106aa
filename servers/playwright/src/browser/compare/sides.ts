import { readFile } from "node:fs/promises";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { parseTargetUrl, refusedUrl } from "../language/address.ts";
import { isBaseName } from "../language/values.ts";
import { CAPTURE, type RunStore } from "../store/runs.ts";
import type { RunRequest } from "../verdict/tester.ts";
import type { Capture, CaptureOf } from "./capture.ts";

export interface CompareRequest {
  /** A URL, a run_id or `base:NAME`; without it, only the base is kept. */
  readonly before?: string | undefined;
  readonly after: string;
  readonly paths: readonly string[];
  readonly steps: readonly string[];
  readonly devices: readonly string[];
  /** Keeps the after side as the base of this name. */
  readonly keep?: string | undefined;
  readonly timeoutMs: number;
}

const MAX_PAGES = 60;
const RUN_ID = /^\d{8}-\d{6}-[0-9a-f]{8}$/;

/** A version of the pages: one to load, or captures that a run kept. */
export type Side =
  | { readonly url: URL }
  | { readonly kept: readonly Kept[]; readonly name: string };
interface Kept extends CaptureOf {
  readonly at: string;
}

/**
 * A side of the comparison as the caller named it.
 *
 * @throws ToolError `invalid` for anything but a URL, a run_id or `base:NAME`, `not_found` for an unknown run or base.
 */
export async function sideOf(runs: RunStore, text: string, argument: string): Promise<Side> {
  const base = /^base:(.*)$/s.exec(text)?.[1];
  if (base === undefined && !RUN_ID.test(text)) {
    const url = parseTargetUrl(text);
    if (typeof url !== "string") return { url };
    if (/^[a-z][a-z0-9+.-]*:/i.test(text)) throw refusedUrl(text, url);
    throw new ToolError(
      "invalid",
      `${argument} ${JSON.stringify(text.slice(0, 80))} is not a URL, a run_id or base:NAME.`,
      { hint: 'Pass "http://localhost:3000", a run_id from an earlier answer, or "base:main".' },
    );
  }
  const id =
    base === undefined
      ? text
      : isBaseName(base)
        ? await runs.newestWith(`base-${base}.json`)
        : undefined;
  if (id === undefined)
    throw new ToolError(
      "not_found",
      `There is no base ${JSON.stringify(String(base).slice(0, 80))}.`,
      {
        hint: "Keep one first: call pw_compare with the URL as after, and keep. Bases are kept with the runs, 50 at most, for 7 days.",
      },
    );
  const kept: Kept[] = [];
  for (const { name, path } of await runs.artifacts(id)) {
    if (!name.endsWith(CAPTURE)) continue;
    const captured: Capture = JSON.parse(await readFile(path, "utf8"));
    kept.push({ ...captured, at: path.slice(0, -CAPTURE.length) });
  }
  if (kept.length > 0) return { kept, name: text };
  throw new ToolError("invalid", `The run ${id} kept no captures of pages.`, {
    hint: 'Pass the run_id of pw_compare, or of pw_run_test with evidence ["capture"].',
  });
}

/**
 * The pages to compare: as asked, or else those of a kept side.
 *
 * @throws ToolError `invalid` for too many pages or other steps than a kept side's, `not_found` for a page it lacks.
 */
export function pagesOf(request: CompareRequest, sides: readonly Side[]): CaptureOf[] {
  const kept = sides.flatMap((side) => ("kept" in side ? [side] : []));
  const known = kept[0]?.kept ?? [];
  const or = (asked: readonly string[], found: readonly string[], otherwise: string) =>
    asked.length > 0 ? [...new Set(asked)] : found.length > 0 ? [...new Set(found)] : [otherwise];
  const paths = or(
    request.paths,
    known.map(({ path }) => path),
    "",
  );
  const devices = or(
    request.devices,
    known.map(({ device }) => device),
    "desktop",
  );
  const steps = request.steps.length > 0 ? request.steps : (known[0]?.steps ?? []);
  for (const { kept: captures, name } of kept) {
    const other = captures.find((one) => JSON.stringify(one.steps) !== JSON.stringify(steps));
    if (other !== undefined)
      throw new ToolError("invalid", `The pages of ${name} were kept after other steps.`, {
        hint: `Leave steps out, or pass the same: ${JSON.stringify(other.steps).slice(0, 500)}.`,
      });
    const has = (path: string, device: string) =>
      captures.some((one) => one.path === path && one.device === device);
    const missing = paths.flatMap((path) =>
      devices.flatMap((device) => (has(path, device) ? [] : [{ path, device }])),
    );
    const [first] = missing;
    if (first !== undefined)
      throw new ToolError("not_found", `${name} has no page ${labelOf(first)}.`, {
        hint: `It has ${[...new Set(captures.map(labelOf))].join(", ").slice(0, 500)}.`,
      });
  }
  const pages = paths.flatMap((path) => devices.map((device) => ({ path, device, steps })));
  if (pages.length > MAX_PAGES)
    throw new ToolError(
      "invalid",
      `There are ${pages.length} pages and devices; at most ${MAX_PAGES} are allowed at once.`,
    );
  return pages;
}

const labelOf = ({ path, device }: Pick<CaptureOf, "path" | "device">) =>
  `${path === "" ? "/" : oneLine(path)} [${device}]`;

/** The URL of a page, below that of its version. */
function urlOf(base: URL, path: string): URL {
  if (path === "") return base;
  const folder = new URL(base);
  if (!/\/$|\.[a-z0-9]+$/i.test(folder.pathname)) folder.pathname += "/";
  const relative = path.replace(/^\/+/, "");
  const url = URL.canParse(relative, folder) ? new URL(relative || "./", folder) : undefined;
  if (url?.origin === base.origin) return url;
  throw new ToolError("invalid", `paths: ${JSON.stringify(path.slice(0, 80))} is not a path.`, {
    hint: 'Pass paths relative to before and after: "/about", "?page=2", "#/active".',
  });
}

/** The run that loads a page of a version and keeps its capture. */
export function loadOf(
  base: URL,
  { path, device, steps }: CaptureOf,
  timeoutMs: number,
): RunRequest {
  const url = urlOf(base, path).href;
  return { url, steps, devices: [device], assertions: [], evidence: ["capture"], timeoutMs };
}
