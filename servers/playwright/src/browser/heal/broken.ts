import type { Locator, Page } from "playwright";
import type { Assertion, Target } from "../language/ast.ts";
import { spaced } from "../language/matching.ts";
import type { Script } from "../language/script.ts";
import { describeTarget } from "../language/target.ts";
import { onAll } from "../secrets/guard.ts";
import type { PageSession } from "../session/page-session.ts";
import { locatorOf, targetOn } from "../session/targets.ts";
import { candidatesOn } from "./candidates.ts";
import { sentenceAt } from "./elements.ts";
import { isInOtherRow, likeness, saysSame } from "./likeness.ts";
import { type Place, type Point, placesOf, pointsAt } from "./points.ts";
import type { Item, Surveyed } from "./survey.ts";

/** What the targets of sentences were in the last green run, by sentence and target. */
export type Greens = Readonly<Record<string, Surveyed>>;
export const greenKey = (sentence: string, target: string): string => `${sentence}\n${target}`;

/** What a run does to heal a test, in addition to running it. */
export interface HealOrder {
  readonly greens: Greens;
  /** Where to look for candidates; where the run fails if not given. */
  readonly at?: Place | undefined;
  /** The target that is removed from the page, again and again, as proof that the sentence needs it. */
  readonly remove?: (Place & { readonly point: number }) | undefined;
}

/** Another target for a sentence, and every sentence that changes with it. */
export interface Offer {
  readonly place: Place;
  readonly sentence: string;
  readonly score: number;
  readonly why: string;
  /** The same target in later steps. */
  readonly also: readonly { readonly place: Place; readonly sentence: string }[];
  /** Whether it changes the words that the sentence is there to find. */
  readonly isExpectation: boolean;
}

/** Why a run failed, as far as the page can say. */
export interface Broken {
  readonly place: Place;
  /** The target's index in the sentence; undefined if the sentence has no target. */
  readonly point: number | undefined;
  readonly target: string;
  /** How many elements the target matches. */
  readonly matches: number;
  readonly hasGreen: boolean;
  readonly offers: readonly Offer[];
  /** The sentence with the text that the page has now, if only the text differs. */
  readonly asShown?: string | undefined;
  /** Steps that found another element than in the green run. */
  readonly drifted: readonly Place[];
  /** Every sentence that failed. */
  readonly failed: readonly Place[];
}

const greenOf = (
  script: Script,
  place: Place,
  { target }: Point,
  greens: Greens,
): Surveyed | undefined => {
  const words = describeTarget(target);
  return greens[greenKey(sentenceAt(script, place), words)] ?? greens[greenKey("", words)];
};

/** Another element than that of the green run. */
const OTHER = 0.45;

/** Steps whose targets were another element than in the green run. */
function driftedIn(
  script: Script,
  { elements }: Pick<PageSession, "elements">,
  greens: Greens,
): Place[] {
  return placesOf(script).filter((place) => {
    if (place.list !== "steps") return false;
    return pointsAt(script, place).some((point) => {
      const [was, is] = [greenOf(script, place, point, greens), elements?.get(point.target)];
      if (was?.item === undefined || is?.item === undefined) return false;
      const { score } = likeness({ ...was, item: was.item }, is.item, is.at, is.keys);
      return score < OTHER || isInOtherRow(was.item, is.item);
    });
  });
}

/**
 * Says which target of a failed sentence is at fault, and which elements of the page could be meant.
 *
 * @param failed the sentences that failed, in their order; the first with a missing or ambiguous target is at fault.
 */
export async function brokenAt(
  session: PageSession,
  script: Script,
  failed: readonly Place[],
  order: HealOrder,
): Promise<Broken | undefined> {
  const { page } = session;
  const drifted = driftedIn(script, session, order.greens);
  let fallback: Broken | undefined;
  for (const place of order.at === undefined ? failed : [order.at]) {
    for (const [index, point] of pointsAt(script, place).entries()) {
      const matches = await locatorOf(page, point.on)
        .count()
        .catch(() => 0);
      const found = {
        place,
        point: index,
        target: describeTarget(point.target),
        matches,
        drifted,
        failed,
      };
      const isAtFault = matches !== 1 || order.at !== undefined;
      if (!isAtFault && fallback !== undefined) continue;
      const offered =
        order.remove === undefined ? await offersFor(page, script, place, point, order.greens) : {};
      const broken = { ...found, hasGreen: false, offers: [], ...offered };
      if (isAtFault) return broken;
      fallback ??= { ...broken, asShown: await asShown(page, script, place, point) };
    }
  }
  const [place] = failed;
  const none = {
    point: undefined,
    target: "",
    matches: 1,
    hasGreen: false,
    offers: [],
    drifted,
    failed,
  };
  return fallback ?? (place === undefined ? undefined : { place, ...none });
}

async function offersFor(page: Page, script: Script, place: Place, point: Point, greens: Greens) {
  const green = greenOf(script, place, point, greens);
  const candidates = await candidatesOn(page, point.target, green);
  const old = describeTarget(point.target);
  const later = placesOf(script).filter(
    (one) => place.list === "steps" && one.list === "steps" && one.index > place.index,
  );
  const offers = candidates.flatMap(({ target, item, score, why }): Offer[] => {
    if (describeTarget(target) === old) return [];
    const also = later.flatMap((one) => {
      const same = pointsAt(script, one).filter((each) => describeTarget(each.target) === old);
      if (same.length === 0) return [];
      return [
        {
          place: one,
          sentence: sentenceAt(script, one, new Map(same.map((each) => [each.target, target]))),
        },
      ];
    });
    const sentence = sentenceAt(script, place, new Map([[point.target, target]]));
    return [{ place, sentence, score, why, also, isExpectation: isExpectation(point, item) }];
  });
  return { hasGreen: green !== undefined, offers };
}

/** Whether a check is there to find the very words of its target, and the element has others. */
const isExpectation = ({ target, assertion }: Point, item: Item): boolean =>
  assertion !== undefined && isSeen(assertion) && !saysSame(target, item);

const isSeen = ({ check }: Assertion) =>
  check.kind === "existence" ||
  (check.kind === "state" && /^(?:visible|in viewport)$/.test(check.state));

/** The sentence with the text that its element has now. */
async function asShown(
  page: Page,
  script: Script,
  place: Place,
  { target, assertion }: Point,
): Promise<string | undefined> {
  if (assertion?.check.kind !== "text") return undefined;
  const { compare } = assertion.check;
  if (compare.negated || assertion.negated || compare.how === "matches") return undefined;
  const text = await textOf(page, target);
  if (text === undefined || text === "" || text.length > 200) return undefined;
  return sentenceAt(script, place, new Map([[compare, { ...compare, value: text }]]));
}

const textOf = (page: Page, target: Target): Promise<string | undefined> =>
  targetOn(page, target)
    .textContent({ timeout: 1_000 })
    .then((text) => spaced(text ?? ""))
    .catch(() => undefined);

const REMOVE_AGAIN_MS = 20;

/**
 * Removes elements, and each equal one that the page adds later. Runs in the page; a change of the page is followed by
 * its removal before anything else can look.
 */
export function removeForGood(all: readonly Element[]): void {
  for (const one of all) {
    const copy = one.cloneNode(true);
    const root = one.getRootNode();
    one.remove();
    const clean = (added: Node) => {
      if (added.isEqualNode(copy)) added.parentNode?.removeChild(added);
      else if (added instanceof Element)
        for (const inner of added.querySelectorAll(one.localName)) clean(inner);
    };
    new MutationObserver((changes) => {
      for (const change of changes) for (const added of change.addedNodes) clean(added);
    }).observe(root, { childList: true, subtree: true });
  }
}

/** Removes what a target matches, also what matches it later, until the returned function is called. */
export async function keepRemoved(
  page: Page,
  locator: Pick<Locator, "elementHandles">,
): Promise<() => void> {
  let isOver = false;
  const remove = () => onAll(locator, removeForGood, undefined).catch(() => undefined);
  await remove();
  const again = async () => {
    while (!isOver && !page.isClosed()) {
      await new Promise((done) => setTimeout(done, REMOVE_AGAIN_MS));
      if (!isOver) await remove();
    }
  };
  void again();
  return () => {
    isOver = true;
  };
}
