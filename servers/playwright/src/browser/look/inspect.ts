import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fitting, oneLine, ToolError } from "@refmcp/core/answer";
import { parseTargetUrl } from "../address.ts";
import { isRole } from "../language/roles.ts";
import { quoted } from "../language/target.ts";
import { refusedUrl } from "../refusal.ts";
import { Deadline } from "../run/deadline.ts";
import { devicesOf, slugOf } from "../run/devices.ts";
import { arrive, browserGone, endOf, recordOf, refusalOf } from "../run/navigate.ts";
import { Quiet } from "../run/quiet.ts";
import type { PageRecord } from "../run/record.ts";
import { type ShownArtifact, shownArtifact } from "../run/report.ts";
import type { Room } from "../run/room.ts";
import { photograph } from "../run/visual.ts";
import type { Calling, Tester } from "../tester.ts";

export interface InspectRequest {
  readonly url: string;
  readonly device: string;
  readonly limit: number;
  readonly budget: number;
}

export interface Inspection {
  /** Where the page is, after redirects. */
  readonly url: string;
  readonly status?: number;
  readonly title: string;
  /** Headings and landmarks in their order. */
  readonly outline: string[];
  /** What can be acted on, in the words of steps and assertions. */
  readonly targets: string[];
  readonly not_shown?: number;
  readonly console: string[];
  readonly run_id: string;
  readonly artifacts: ShownArtifact[];
}

const LANDMARKS = new Set("banner navigation main contentinfo complementary region search form".split(" "));
const CONTROLS = new Set(
  (
    "button link textbox searchbox checkbox radio combobox listbox switch slider spinbutton tab " +
    "menuitem option img alert status dialog"
  ).split(" "),
);
/** A page that cannot be looked at in this time is tested with pw_run_test and a longer timeout_ms. */
const INSPECT_MS = 30_000;
const MOST_OUTLINE = 60;
const NAME_CHARS = 120;
/** Targets that are made unambiguous; an answer shows fewer. */
const MOST_TARGETS = 500;

/** Looks at a page without doing anything on it: what stands there and how steps and assertions call it. */
export async function inspectPage(
  tester: Tester,
  request: InspectRequest,
  call: Calling,
): Promise<Inspection> {
  const url = parseTargetUrl(request.url);
  if (typeof url === "string") throw refusedUrl(request.url, url);
  const [device] = await devicesOf([request.device]);
  if (device === undefined) throw new TypeError("no device");
  const gate = await tester.options.policy.gateFor(url);
  const deadline = new Deadline(INSPECT_MS, call.signal);
  const room = await tester.rooms.open({ device, gate, recording: undefined });
  const { id, folder } = await tester.runs.begin();
  try {
    const record = recordOf(room);
    const looking = { request, url, room, record, deadline, folder };
    const seen = await Promise.race([look(looking), endOf(url, room, record)]);
    const inspection: Inspection = {
      ...seen,
      run_id: id,
      artifacts: (await tester.runs.artifacts(id)).map(shownArtifact),
    };
    const clean = tester.secrets.redactIn(inspection);
    await tester.runs.finish(id, clean);
    return clean;
  } catch (error) {
    await tester.runs.drop(id);
    const isGone = !(error instanceof ToolError) && room.context.browser()?.isConnected() !== true;
    throw isGone ? browserGone(error) : error;
  } finally {
    deadline.end();
    await room.close();
  }
}

interface Looking {
  readonly request: InspectRequest;
  readonly url: URL;
  readonly room: Room;
  readonly record: PageRecord;
  readonly deadline: Deadline;
  /** Where the screenshot goes. */
  readonly folder: string;
}

async function look(looking: Looking): Promise<Omit<Inspection, "run_id" | "artifacts">> {
  const { request, url, room, record, deadline, folder } = looking;
  const { page } = room;
  await arrive(url, room, record, deadline);
  await new Quiet(page, record, deadline).settled();
  refusalOf(record, room);
  const tree = await deadline.race(page.locator("body").ariaSnapshot({ timeout: 5_000 }));
  const { png } = await photograph(page, {}, deadline);
  const name = `${slugOf(url.pathname.replace(/\.[a-z]+$/i, ""), "home")}.png`;
  await writeFile(join(folder, name), png, { mode: 0o600 });
  const title = (await deadline.within(1_000, page.title())) ?? "";
  const seen = readTree(tree.slice(0, 1_000_000));
  const status = record.place.response?.status();
  const lines = record.console
    .filter(({ level }) => level !== "info")
    .map(({ level, text }) => `${level}: ${oneLine(text).slice(0, 200)}`);
  const wanted = seen.targets.slice(0, request.limit);
  const targets = wanted.slice(0, fitting(wanted, request.budget / 2));
  const notShown = seen.targets.length - targets.length;
  const thrown = record.pageErrors.map((text) => `uncaught ${oneLine(text).slice(0, 200)}`);
  return {
    url: page.url(),
    ...(status === undefined ? {} : { status }),
    title: oneLine(title).slice(0, 200),
    outline: seen.outline.slice(0, MOST_OUTLINE),
    targets,
    ...(notShown === 0 ? {} : { not_shown: notShown }),
    console: [...thrown, ...lines].slice(0, 8),
  };
}

interface Seen {
  readonly outline: string[];
  readonly targets: string[];
}

/** Reads Playwright's ARIA snapshot: lines such as `- heading "Docs" [level=1]`. */
export function readTree(tree: string): Seen {
  const seen: Seen = { outline: [], targets: [] };
  const count = new Map<string, { role: string; name: string; times: number }>();
  for (const line of tree.split("\n")) {
    const [, role, json, rest = ""] = /^\s*- '?([a-z]+)(?: ("(?:[^"\\]|\\.)*"))?(.*)$/.exec(line) ?? [];
    if (role === undefined || !isRole(role)) continue;
    const name = nameOf(json);
    const target = name === "" ? role : `${role} ${quoted(name)}`;
    if (role === "heading") {
      const level = /\[level=(\d)\]/.exec(rest)?.[1] ?? "?";
      const text = name === "" ? "(empty)" : name;
      seen.outline.push(`h${level} ${oneLine(text)}`);
    } else if (LANDMARKS.has(role)) seen.outline.push(target);
    else if (
      CONTROLS.has(role) &&
      (name !== "" || /^(?:textbox|searchbox|combobox|alert|status|dialog)$/.test(role))
    )
      count.set(target, { role, name, times: (count.get(target)?.times ?? 0) + 1 });
  }
  for (const { role, name, times } of count.values()) {
    // A name finds every element whose name it is a part of: then it has to be the whole name.
    const wanted = name.toLowerCase();
    const isWhole = name.length < NAME_CHARS && seen.targets.length < MOST_TARGETS;
    const isPart =
      isWhole &&
      [...count.values()].some(
        (other) => other.role === role && other.name !== name && other.name.toLowerCase().includes(wanted),
      );
    const target = name === "" ? role : `${role} ${isPart ? "exactly " : ""}${quoted(name)}`;
    seen.targets.push(times === 1 ? target : `first ${target}`);
    for (let n = 2; n <= Math.min(times, 3); n++) seen.targets.push(`nth ${n} ${target}`);
  }
  return seen;
}

/** A name as the snapshot writes it; only its beginning, which finds the element too. */
function nameOf(json: string | undefined): string {
  if (json === undefined) return "";
  try {
    const name: unknown = JSON.parse(json);
    return typeof name === "string" ? name.slice(0, NAME_CHARS).toWellFormed().trim() : "";
  } catch {
    return "";
  }
}
