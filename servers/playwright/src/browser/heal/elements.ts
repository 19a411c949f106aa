import type { Locator } from "playwright";
import type { Target } from "../language/ast.ts";
import { assertionSentence, type Replaced, type Script, stepSentence } from "../language/script.ts";
import { describeTarget } from "../language/target.ts";
import { onAll, secretsOn } from "../secrets/guard.ts";
import { type Place, placesOf, pointsAt } from "./points.ts";
import { type Surveyed, seenSurvey, survey } from "./survey.ts";

/** What each target of a run was on the page, by its target in the script. */
export type Elements = Map<Target, Surveyed>;

/** An element that a run used, kept with it so that it can be found again when the page has changed. */
export interface KeptElement {
  readonly sentence: string;
  readonly target: string;
  readonly at: number;
  readonly item: NonNullable<Surveyed["item"]>;
  /** The index of its page's keys in `pages`. */
  readonly page: number;
}

export interface KeptElements {
  readonly elements: readonly KeptElement[];
  readonly pages: readonly (readonly string[])[];
}

/** Remembers the element of a target; a page that cannot be read only loses that. */
export async function noteElement(
  elements: Elements | undefined,
  target: Target,
  locator: Locator,
): Promise<void> {
  if (elements === undefined) return;
  const read = await onAll(locator.first(), survey, "keys" as const)
    .then((one) => one && seenSurvey(one, secretsOn(locator.page())?.seen))
    .catch(() => undefined);
  if (read?.item === undefined) return;
  const { item, at, keys } = read;
  elements.set(target, { item, at, keys });
}

export function sentenceAt(
  { steps, assertions }: Script,
  { list, index }: Place,
  found?: Replaced,
) {
  const [step, assertion] = [steps[index], assertions[index]];
  if (list === "steps") return step === undefined ? "" : stepSentence(step, found);
  return assertion === undefined ? "" : assertionSentence(assertion, found);
}

/** The elements of a run for its report; equal pages once. */
export function keptOf(script: Script, elements: Elements): KeptElements {
  const pages: (readonly string[])[] = [];
  const texts: string[] = [];
  const kept = placesOf(script).flatMap((place) =>
    pointsAt(script, place).flatMap(({ target }): KeptElement[] => {
      const known = elements.get(target);
      if (known?.item === undefined) return [];
      const text = known.keys.join("\n");
      if (!texts.includes(text)) {
        texts.push(text);
        pages.push(known.keys);
      }
      return [
        {
          sentence: sentenceAt(script, place),
          target: describeTarget(target),
          at: known.at,
          item: known.item,
          page: texts.indexOf(text),
        },
      ];
    }),
  );
  return { elements: kept, pages };
}
