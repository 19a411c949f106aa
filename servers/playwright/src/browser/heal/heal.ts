import { ToolError } from "@refmcp/boundary/answer";
import type { Drivers } from "../driver/drivers.ts";
import { type Calling, workMs } from "../session/deadline.ts";
import type { RunStore } from "../store/runs.ts";
import type { RunReport } from "../verdict/report.ts";
import type { RunRequest } from "../verdict/tester.ts";
import { type Broken, type Greens, greenKey, type HealOrder, type Offer } from "./broken.ts";
import { type Place, placeName } from "./points.ts";

/** A change that heals a test, or that the user is asked about. */
export interface Change {
  readonly where: string;
  readonly before: string;
  readonly after: string;
  readonly why: string;
}

export interface Healing {
  /** `defect`: only a weaker check would pass; `question`: what is expected has changed. */
  readonly outcome: "healed" | "question" | "defect" | "passes" | "undecided";
  readonly summary: string;
  readonly changes: Change[];
  /** Changes of what the test expects, which only the user can decide. */
  readonly questions: Change[];
  /** The run that passes with the changes. */
  readonly green_run?: string | undefined;
  /** The runs that fail, each with one healed target removed from the page. */
  readonly red_runs: string[];
  readonly runs: number;
  readonly notes: string[];
  /** For a spec: the changes as a unified diff, and whether they are written. */
  readonly patch?: string | undefined;
  readonly applied?: boolean | undefined;
}

interface Sentences {
  readonly steps: readonly string[];
  readonly assertions: readonly string[];
}

const MAX_CHANGES = 6;
const MAX_OFFERS = 4;
/** Offers this close to each other are both tried: if both pass, the user decides. */
const CLOSE = 0.06;
/** How long an action waits for an element that was removed on purpose. */
const RED_MS = 2_000;
/** Time to answer after the last run. */
const ANSWER_MS = 3_000;

/**
 * Finds the changed targets of a failed run, and proves the changes: the run passes with them, and fails once a healed
 * target is removed from the page. Only targets change.
 *
 * @throws ToolError `not_found` for an unknown run, `invalid` for one of another kind, and as a run does.
 */
export async function healRun(
  { drivers, runs }: { readonly drivers: Pick<Drivers, "run">; readonly runs: RunStore },
  { runId, timeoutMs }: { readonly runId: string; readonly timeoutMs: number },
  call: Calling,
): Promise<Healing> {
  const { url, devices, ...given } = await runs.done(runId);
  const greens = await greensFor(runs, url);
  const began = performance.now();
  let count = 0;
  const run = (
    sentences: Sentences,
    order: Omit<HealOrder, "greens">,
    limit: Pick<RunRequest, "stepMs"> = {},
  ): Promise<RunReport> => {
    count += 1;
    call.progress(count, undefined, `run ${count}`);
    const request: RunRequest = {
      ...{ url, devices, timeoutMs, evidence: ["on_failure"] },
      ...{
        steps: sentences.steps,
        assertions: sentences.assertions,
        heal: { greens, ...order },
        ...limit,
      },
    };
    return drivers.run(request, call);
  };
  /** Whether there is time for a run as long as the first. */
  let firstMs = 0;
  const hasTime = () => workMs(call) > firstMs + ANSWER_MS;

  let sentences: Sentences = { steps: given.steps, assertions: given.assertions };
  const notes = new Set<string>();
  const changes: (Change & { place: Place; point: number })[] = [];
  const answer = (
    outcome: Healing["outcome"],
    summary: string,
    more: Partial<Healing> = {},
  ): Healing => ({
    ...{ outcome, summary, questions: [], red_runs: [], runs: count, notes: [...notes] },
    changes: changes.map(({ place: _, point: __, ...change }) => change),
    ...more,
  });
  let report = await run(sentences, {});
  firstMs = performance.now() - began;
  if (report.passed)
    return answer("passes", "The run passes now, so there is nothing to heal.", {
      green_run: report.run_id,
    });

  while (!report.passed) {
    const broken = await culprit(report, (at) => run(sentences, { at }));
    if (broken === undefined) throw new TypeError("a failed run has no failed sentence");
    const before = sentenceOf(sentences, broken.place);
    const reason = reasonIn(report, broken.place);
    if (!broken.hasGreen && broken.point !== undefined) notes.add(NO_GREEN);
    const where = placeName(broken.place);
    const offers = broken.offers.slice(0, MAX_OFFERS);
    const [best] = offers;
    if (broken.asShown !== undefined)
      return answer(
        "question",
        `${where} expects another text than the page shows. Only you can say which is right.`,
        {
          questions: [{ where, before, after: broken.asShown, why: reason }],
        },
      );
    if (best?.isExpectation === true)
      return answer(
        "question",
        `${where} checks a text that has changed on the page. Only you can say which is right.`,
        {
          questions: [{ where, before, after: best.sentence, why: best.why }],
        },
      );
    const defect = () =>
      answer("defect", `This looks like a real defect: ${before}: ${reason}`, {
        notes: [...notes, ...nearMisses(broken)],
      });
    if (broken.point === undefined || best === undefined || changes.length >= MAX_CHANGES)
      return defect();

    const passing: { offer: Offer; report: RunReport }[] = [];
    let farther: { offer: Offer; report: RunReport } | undefined;
    for (const offer of offers.filter(({ isExpectation }) => !isExpectation)) {
      const [first] = passing;
      if (first !== undefined && first.offer.score - offer.score > CLOSE) break;
      if (!hasTime())
        return answer(
          "undecided",
          `There was no time left to try ${JSON.stringify(offer.sentence)} for ${where}. Call again with a longer --timeout-ms.`,
        );
      const tried = await run(changed(sentences, offer), {});
      if (tried.passed) passing.push({ offer, report: tried });
      else if (isFarther(tried.broken, broken.place)) farther ??= { offer, report: tried };
    }
    const [one, other] = passing;
    if (one !== undefined && other !== undefined)
      return answer(
        "question",
        `Two elements could be meant in ${where}, and the run passes with either.`,
        {
          questions: [one, other].map(({ offer }) => ({
            where,
            before,
            after: offer.sentence,
            why: offer.why,
          })),
        },
      );
    const chosen = one ?? farther;
    if (chosen === undefined) return defect();
    const { offer } = chosen;
    for (const { place, sentence } of [
      { place: offer.place, sentence: offer.sentence },
      ...offer.also,
    ])
      changes.push({
        place,
        point: broken.point,
        where: placeName(place),
        before: sentenceOf(sentences, place),
        after: sentence,
        why: offer.why,
      });
    sentences = changed(sentences, offer);
    report = chosen.report;
  }

  const red: string[] = [];
  for (const { place, point, after } of changes) {
    if (!hasTime())
      return answer(
        "undecided",
        "There was no time left to prove the changes. Call again with a longer --timeout-ms.",
        { green_run: report.run_id },
      );
    const broke = await run(sentences, { remove: { ...place, point } }, { stepMs: RED_MS });
    if (
      !(broke.broken?.failed ?? []).some(
        (one) => one.list === place.list && one.index === place.index,
      )
    )
      return answer(
        "defect",
        `The run passes with ${JSON.stringify(after)}, but also if that element is removed from the page, so the change proves nothing.`,
      );
    if (broke.run_id !== undefined) red.push(broke.run_id);
  }
  const sentence = changes.length === 1 ? "1 sentence" : `${changes.length} sentences`;
  return answer(
    "healed",
    `${sentence} changed: the run passes, and fails if a healed element is removed from the page.`,
    { green_run: report.run_id, red_runs: red },
  );
}

const NO_GREEN =
  "no earlier run that passed is kept for this sentence (50 runs, 7 days), so elements were compared with its words alone";

/** The sentence to heal: an earlier step that found another element than before, if the failed one has its target. */
async function culprit(
  { broken }: RunReport,
  look: (at: Place) => Promise<RunReport>,
): Promise<Broken | undefined> {
  const [drifted] = broken?.drifted ?? [];
  if (broken === undefined || drifted === undefined || broken.matches !== 1) return broken;
  const looked = await look(drifted);
  const found = looked.broken;
  return found === undefined || found.offers.length === 0
    ? broken
    : { ...found, asShown: undefined };
}

const sentenceOf = (sentences: Sentences, { list, index }: Place): string =>
  sentences[list][index] ?? "";

function changed(sentences: Sentences, { place, sentence, also }: Offer): Sentences {
  const all = [{ place, sentence }, ...also];
  const replaced = (list: Place["list"]) =>
    sentences[list].map(
      (text, index) =>
        all.find((one) => one.place.list === list && one.place.index === index)?.sentence ?? text,
    );
  return { steps: replaced("steps"), assertions: replaced("assertions") };
}

/** Whether a run got past a sentence: it fails only later, or in another assertion. */
function isFarther(broken: Broken | undefined, { list, index }: Place): boolean {
  return (broken?.failed ?? []).every((one) =>
    list === "steps"
      ? one.list === "assertions" || one.index > index
      : one.list === "assertions" && one.index !== index,
  );
}

function reasonIn({ failed_step: step, assertions }: RunReport, { list, index }: Place): string {
  if (list === "steps" && step !== undefined) return step.slice(step.indexOf(": ") + 2);
  return assertions[index]?.actual ?? "";
}

const nearMisses = ({ offers }: Broken): string[] =>
  offers
    .slice(0, 3)
    .map(({ sentence, score }) => `tried without success: ${sentence} (likeness ${score})`);

/** The elements of earlier runs that passed: those of the same page first, the newest first. */
async function greensFor(runs: RunStore, url: string): Promise<Greens> {
  const path = new URL(url).pathname;
  const all = [];
  for (const id of await runs.ids()) {
    const done = await runs.done(id).catch((error: unknown) => {
      if (error instanceof ToolError) return undefined;
      throw error;
    });
    if (done?.kept !== undefined)
      all.push({ kept: done.kept, isSame: new URL(done.url).pathname === path });
  }
  const greens: Record<string, Greens[string]> = {};
  for (const { kept, isSame } of [
    ...all.filter((one) => one.isSame),
    ...all.filter((one) => !one.isSame),
  ])
    for (const { sentence, target, at, item, page } of kept.elements) {
      const keys = kept.pages[page] ?? [];
      greens[greenKey(sentence, target)] ??= { item, at, keys };
      if (isSame) greens[greenKey("", target)] ??= { item, at, keys };
    }
  return greens;
}

export function healingText({
  outcome,
  summary,
  changes,
  questions,
  green_run,
  red_runs,
  runs,
  notes,
  patch,
}: Healing): string {
  const lines = (all: readonly Change[]) =>
    all.flatMap(({ where, before, after, why }) => [
      `${where}`,
      `- ${before}`,
      `+ ${after}`,
      `  (${why})`,
    ]);
  return [
    `${outcome.toUpperCase()}: ${summary}`,
    ...(patch === undefined ? lines(changes) : [patch]),
    ...(questions.length === 0 ? [] : ["Ask the user whether this is meant:", ...lines(questions)]),
    ...(green_run === undefined ? [] : [`green run ${green_run}`]),
    ...(red_runs.length === 0
      ? []
      : [`red ${red_runs.length === 1 ? "run" : "runs"} ${red_runs.join(", ")}`]),
    `${runs} ${runs === 1 ? "run" : "runs"}`,
    ...notes.map((note) => `note: ${note}`),
  ].join("\n");
}
