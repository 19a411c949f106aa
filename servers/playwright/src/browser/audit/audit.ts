import { oneLine } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import { axeRulesOf, metricOf } from "../check/quality.ts";
import type { Step } from "../language/ast.ts";
import { setupLength } from "../language/script.ts";
import { shown } from "../library.ts";
import { guardDocuments } from "../secrets/guard.ts";
import type { Deadline } from "../session/deadline.ts";
import type { Device } from "../session/devices.ts";
import {
  explained,
  notesOf,
  openSession,
  type PageSession,
  performAll,
  playSteps,
  type SessionServices,
  titleOf,
} from "../session/page-session.ts";
import { targetFor } from "../session/snapshot.ts";
import type { RunFolder } from "../store/disk.ts";
import { domVerdicts } from "./dom.ts";
import { networkVerdicts, type Weight } from "./network.ts";
import {
  type Category,
  IMPACT_WEIGHTS,
  type Item,
  RULES,
  type Scored,
  scoreOf,
  type Verdict,
  type Verdicts,
} from "./rules.ts";
import { causesOf, loadVitals, medianOf, type Vitals, vitalVerdicts } from "./vitals.ts";

/** A rule that a page does not meet. */
export interface Finding {
  readonly category: Scored;
  readonly rule: string;
  /** How many points of its category's score it costs. */
  readonly costs: number;
  readonly fix: string;
  readonly reason?: string;
  /** Targets for sentences, or texts such as URLs. */
  readonly where: readonly string[];
  readonly count: number;
}

/** The audit of a page on one device. */
export interface DeviceAudit {
  readonly device: string;
  readonly url: string;
  readonly status: number | undefined;
  readonly title: string;
  readonly scores: Record<string, number>;
  readonly vitals: Vitals | undefined;
  readonly weight: Weight | undefined;
  readonly findings: readonly Finding[];
  /** The share of each rule that applies, also of those that the page meets. */
  readonly rules: Readonly<Record<string, number>>;
  readonly failed_step: string | undefined;
  readonly notes: readonly string[];
}

export interface AuditOptions {
  readonly url: URL;
  readonly steps: readonly Step[];
  readonly writesSecrets: boolean;
  readonly device: Device;
  readonly folder: RunFolder;
  readonly categories: ReadonlySet<Category>;
  readonly deadline: Deadline;
}

/** A rule that applies to the page, and its verdict. */
interface Judged extends Verdict {
  readonly category: Scored;
  readonly rule: string;
  readonly weight: number;
  readonly fix: string;
  readonly reason?: string;
}

/** The vitals are the median of this many loads. */
const LOADS = 3;
/** What another load needs at least. */
const LOAD_MS = 3_000;
/** Rules of WCAG 2.2 that axe-core leaves out by default. */
const MORE_RULES = ["target-size"];
/** Elements named for one rule, and for all. */
const MAX_WHERE = 10;
const MAX_NAMES = 80;

/**
 * Audits a page on one device: one load with all steps, then two with the setup steps alone, for the vitals.
 *
 * @throws ToolError as a run does.
 */
export async function auditOn(
  options: AuditOptions,
  services: SessionServices,
): Promise<DeviceAudit> {
  const { steps, categories, deadline, device } = options;
  const setup = steps.slice(0, setupLength(steps));
  const rest = steps.slice(setup.length);
  const loads: Vitals[] = [];
  const load = async (session: PageSession) => {
    const failed = await playSteps(setup, session, () => undefined);
    await session.settling.settled(deadline);
    loads.push(await deadline.race(loadVitals(session.page)));
    return failed;
  };
  const { notes, judged, names, causes, page, weight, failed } = await inSession(
    options,
    services,
    async (session) => {
      const failed = (await load(session)) ?? (await performAll(rest, session, () => undefined));
      // Without a step that interacts: a key that only moves the focus.
      if (rest.length === 0) await deadline.race(session.page.keyboard.press("Tab"));
      await session.settling.settled(deadline);
      const inp = await deadline.race(metricOf(session.page, "inp"));
      if (inp !== undefined) loads.push({ inp });
      return { ...(await readPage(session, categories)), failed };
    },
  );
  const lacking: string[] = [];
  for (let done = 1; done < LOADS && categories.has("vitals") && failed === undefined; done++) {
    if (deadline.leftMs < LOAD_MS) {
      lacking.push(`vitals: ${done} of ${LOADS} loads, because there was no time for more`);
      break;
    }
    await inSession(options, services, load);
  }
  const vitals = medianOf(loads);
  const all = [
    ...judged,
    ...(categories.has("vitals") ? judgedBy("vitals", vitalVerdicts(vitals, causes)) : []),
  ];
  const scores: Record<string, number> = {};
  const findings: Finding[] = [];
  for (const category of new Set(all.map((one) => one.category))) {
    const rules = all.filter((one) => one.category === category);
    const whole = rules.reduce((sum, one) => sum + one.weight, 0);
    scores[category] = scoreOf(rules);
    for (const { rule, fix, reason, items, count, weight: part, share } of rules)
      if (items.length > 0)
        findings.push({
          category,
          rule,
          costs: Math.round((1_000 * part * (1 - share)) / whole) / 10,
          fix,
          ...(reason === undefined ? {} : { reason }),
          where: items
            .slice(0, MAX_WHERE)
            .flatMap((item) => whereOf(item, names, services.secrets.seen)),
          count: count ?? items.length,
        });
  }
  return {
    device: device.name,
    ...page,
    scores,
    vitals: categories.has("vitals") ? vitals : undefined,
    weight: categories.has("weight") ? weight : undefined,
    findings: findings.sort((a, b) => b.costs - a.costs || (a.rule < b.rule ? -1 : 1)),
    rules: Object.fromEntries(
      all.map(({ category, rule, share }) => [`${category}: ${rule}`, Number(share.toFixed(3))]),
    ),
    failed_step: failed,
    notes: [...notes, ...lacking],
  };
}

/** Does its work in a session without artifacts, in a fresh browser context. */
async function inSession<Value>(
  { writesSecrets, ...options }: AuditOptions,
  services: SessionServices,
  work: (session: PageSession) => Promise<Value>,
): Promise<Value> {
  const artifacts = { kinds: [], stem: "audit", writesSecrets };
  const session = await openSession({ ...options, artifacts, keepsDownloads: false }, services);
  try {
    return await Promise.race([work(session), session.ended]);
  } catch (error) {
    throw await explained(error, session);
  } finally {
    // The next load has the browser for itself.
    await session.opened.close();
  }
}

/** Everything about a page but its vitals. */
async function readPage(session: PageSession, categories: ReadonlySet<Category>) {
  const { page, events, deadline } = session;
  // First: what follows sends a request, and can log errors.
  const network = await deadline.race(networkVerdicts(page, events));
  const notes = notesOf(session);
  const causes = await deadline.race(causesOf(page));
  const dom = await deadline.race(domVerdicts(page));
  const verdicts = {
    ...network.verdicts,
    seo: { ...dom.seo, ...network.verdicts.seo },
    best_practices: { ...dom.best_practices, ...network.verdicts.best_practices },
  };
  const groups = (["weight", "seo", "headers", "best_practices"] as const).filter((one) =>
    categories.has(one),
  );
  const judged = [
    ...(categories.has("accessibility") ? await deadline.race(accessibilityOf(page)) : []),
    ...groups.flatMap((category) => judgedBy(category, verdicts[category])),
  ];
  const items = [
    ...Object.values(causes),
    ...judged.flatMap((one) => one.items.slice(0, MAX_WHERE)),
  ];
  return {
    notes,
    judged,
    causes,
    weight: network.weight,
    names: await deadline.race(namesOf(page, items)),
    page: {
      url: page.url(),
      status: events.place.response?.status(),
      title: await titleOf(session),
    },
  };
}

async function accessibilityOf(page: Page): Promise<Judged[]> {
  return (await axeRulesOf(page, null, MORE_RULES)).map(
    ({ id, impact, help, reason, elements, count }) => ({
      category: "accessibility",
      rule: `${id} (${impact})`,
      weight: IMPACT_WEIGHTS[impact],
      fix: help,
      ...(reason === "" ? {} : { reason: oneLine(reason) }),
      share: count === 0 ? 1 : 0,
      items: elements.map((css) => ({ css })),
      count,
    }),
  );
}

function judgedBy(category: keyof typeof RULES, verdicts: Verdicts): Judged[] {
  return Object.entries(RULES[category]).flatMap(([rule, row]) => {
    const verdict = verdicts[rule];
    return verdict === undefined ? [] : [{ category, rule, ...row, ...verdict }];
  });
}

/** The targets that find elements, by their CSS. */
async function namesOf(page: Page, items: readonly Item[]): Promise<ReadonlyMap<string, string>> {
  await guardDocuments(page);
  const names = new Map<string, string>();
  const all = new Set(items.flatMap(({ css }) => css ?? []));
  for (const css of [...all].slice(0, MAX_NAMES)) {
    const target = await targetFor(page, page.locator(css));
    if (target !== undefined) names.set(css, target);
  }
  return names;
}

const whereOf = (
  { css, text }: Item,
  names: ReadonlyMap<string, string>,
  see: (text: string) => string,
): string[] => {
  if (css !== undefined) return [names.get(css) ?? `\`${oneLine(css)}\``];
  return text === undefined ? [] : [shown(see(text), 200).slice(1, -1)];
};
