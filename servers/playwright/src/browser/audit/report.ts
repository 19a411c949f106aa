import { ToolError } from "@refmcp/boundary/answer";
import { secretsOf } from "../language/script.ts";
import { SecretsInRun } from "../secrets/secrets.ts";
import { type Calling, Deadline, workMs } from "../session/deadline.ts";
import { readingNotes } from "../session/page-session.ts";
import { slugOf } from "../store/disk.ts";
import { REPORT } from "../store/runs.ts";
import { shortened, shownArtifact } from "../verdict/report.ts";
import type { Tester } from "../verdict/tester.ts";
import { auditOn, type DeviceAudit, type Finding } from "./audit.ts";
import { type Lighthouse, lighthouseOf, runLighthouse } from "./lighthouse.ts";
import { CATEGORIES, type Category } from "./rules.ts";

export interface AuditRequest {
  readonly url: string;
  readonly steps: readonly string[];
  readonly devices: readonly string[];
  /** None for all. */
  readonly categories: readonly Category[];
  readonly timeoutMs: number;
  /** The most characters of an answer. */
  readonly budget: number;
}

/** An answer has at most this many characters, also where more are allowed; the run's id and links are in them. */
const MAX_CHARS = 6_000;
const LINK_CHARS = 400;
const FILE = "audit.json";
/** What Lighthouse leaves of the time for the answer. */
const LEAVE_MS = 1_000;
/** Findings and places shown, in the order in which they are tried. */
const CUTS: readonly {
  readonly findings: number;
  readonly where: number;
  readonly chars: number;
}[] = [
  { findings: 40, where: 5, chars: 200 },
  { findings: 40, where: 2, chars: 120 },
  { findings: 25, where: 1, chars: 100 },
  { findings: 12, where: 1, chars: 80 },
  { findings: 6, where: 1, chars: 60 },
  { findings: 2, where: 1, chars: 40 },
];

/**
 * Audits a page on each device, one after the other.
 *
 * @returns scores and what to change, at most 6,000 characters; the artifact has everything.
 * @throws ToolError as a run does.
 */
export async function auditPage(
  tester: Tester,
  given: Lighthouse,
  request: AuditRequest,
  call: Calling,
) {
  const { runs } = tester.options;
  const secrets = new SecretsInRun(tester.options.secrets, [request.url, ...request.steps]);
  try {
    const { url, script, devices } = await tester.prepare({ ...request, assertions: [] });
    const silent = devices.find(({ options }) => options.javaScriptEnabled === false);
    if (silent !== undefined)
      throw new ToolError(
        "invalid",
        `devices: ${JSON.stringify(silent.name)} runs no scripts, and an audit needs scripts.`,
        {
          hint: "Use another device, or check the page without scripts with pw_run_test.",
        },
      );
    const services = await tester.servicesFor(url, secrets);
    const folder = await runs.begin();
    const deadline = new Deadline(Math.min(request.timeoutMs, workMs(call)), call.signal);
    try {
      const categories = new Set(request.categories.length === 0 ? CATEGORIES : request.categories);
      const options = {
        ...{ url, folder, categories, deadline, steps: script.steps },
        writesSecrets: secretsOf(script).length > 0,
      };
      const audits: DeviceAudit[] = [];
      for (const [index, device] of devices.entries()) {
        call.progress(index, devices.length, device.name);
        audits.push(await auditOn({ ...options, device }, services));
      }
      const notes = [...folder.notes(), ...readingNotes(script.steps)];
      // Last: it takes the longest, and its scores are only an addition.
      const cli = categories.has("lighthouse") ? await lighthouseOf(given.project) : undefined;
      const lighthouse: Record<string, Record<string, number>> = {};
      for (const device of cli === undefined ? [] : devices) {
        call.progress(devices.length, devices.length + 1, `lighthouse ${device.name}`);
        const scores = await runLighthouse(cli ?? "", {
          ...{ url, folder, signal: deadline.signal, launchShared: given.launchShared },
          ignoreHttpsErrors: tester.options.ignoreHttpsErrors,
          ...{ guard: services.guard, isMobile: device.options.isMobile === true },
          file: `lighthouse-${slugOf(device.name, "device")}.json`,
          milliseconds: Math.max(1, deadline.leftMs - LEAVE_MS),
          redact: (text) => secrets.redactFile(text),
        });
        if (typeof scores === "string") notes.push(`lighthouse: ${scores}`);
        else lighthouse[device.name] = scores;
      }
      if (cli === undefined && request.categories.includes("lighthouse"))
        notes.push("lighthouse is not installed: npm install -D lighthouse in the project, or -g");
      if (cli !== undefined && script.steps.length > 0)
        notes.push("lighthouse loads the page without the steps");
      const full = { url: request.url, audits, lighthouse, notes };
      await folder.write(FILE, `${secrets.redactFile(JSON.stringify(full, undefined, 2))}\n`);
      const answer = fitting(
        secrets.redactIn(full),
        Math.min(MAX_CHARS, request.budget) - LINK_CHARS * (1 + devices.length),
      );
      await runs.finish(folder, { ...answer, run_id: folder.id });
      return {
        ...answer,
        run_id: folder.id,
        artifacts: (await runs.kept(folder))
          .filter(({ name }) => name !== REPORT)
          .map(shownArtifact),
      };
    } catch (error) {
      await runs.drop(folder.id);
      throw error;
    } finally {
      deadline.end();
    }
  } catch (error) {
    throw secrets.redactError(error);
  }
}

type Shown = Omit<Finding, "where"> & { where?: string[]; devices?: string[] };

interface Full {
  readonly url: string;
  readonly audits: readonly DeviceAudit[];
  readonly lighthouse: Readonly<Record<string, Record<string, number>>>;
  readonly notes: readonly string[];
}

/** The audits as one answer: each finding once, with the devices that it is about if not all. */
function fitting({ url, audits, lighthouse, notes }: Full, budget: number) {
  const merged = new Map<string, Finding & { readonly devices: string[] }>();
  for (const { device, findings } of audits)
    for (const finding of findings) {
      const key = `${finding.category} ${finding.rule}`;
      const known = merged.get(key);
      if (known === undefined) merged.set(key, { ...finding, devices: [device] });
      else known.devices.push(device);
    }
  const all = [...merged.values()].sort((a, b) => b.costs - a.costs || (a.rule < b.rule ? -1 : 1));
  const [first] = audits;
  const failed = audits.find(({ failed_step }) => failed_step !== undefined)?.failed_step;
  const noted = [...new Set([...audits.flatMap((one) => one.notes), ...notes])].slice(0, 5);
  const of = (cut: (typeof CUTS)[number]) => ({
    url: shortened(first?.url ?? url, 500),
    status: first?.status,
    title: shortened(first?.title ?? "", cut.chars),
    devices: audits.map(({ device, scores, vitals, weight }) => ({
      device,
      scores,
      vitals,
      lighthouse: lighthouse[device],
      ...(weight === undefined
        ? {}
        : { weight: { bytes: weight.bytes, requests: weight.requests, by_kind: weight.by_kind } }),
    })),
    findings: all
      .slice(0, cut.findings)
      .map(({ devices, where, reason, fix, ...finding }): Shown => {
        const places = where.slice(0, cut.where).map((one) => shortened(one, cut.chars));
        return {
          ...finding,
          fix: shortened(fix, 160),
          ...(reason === undefined || cut.where === 1
            ? {}
            : { reason: shortened(reason, cut.chars) }),
          ...(places.length === 0 ? {} : { where: places }),
          ...(devices.length === audits.length ? {} : { devices }),
        };
      }),
    more_findings: all.length > cut.findings ? all.length - cut.findings : undefined,
    failed_step: failed === undefined ? undefined : shortened(failed, 400),
    notes: noted.length === 0 ? undefined : noted.map((one) => shortened(one, 200)),
  });
  const answers = CUTS.map(of);
  return (
    answers.find((one) => JSON.stringify(one).length <= budget) ??
    of({ findings: 0, where: 0, chars: 40 })
  );
}
