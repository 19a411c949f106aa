import { oneLine } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import type { Base, Meaning, Target } from "../language/ast.ts";
import { isRole } from "../language/elements.ts";
import { describeTarget } from "../language/target.ts";
import { onAll, secretsOn } from "../secrets/guard.ts";
import { frameName, targetOn } from "../session/targets.ts";
import { type Likeness, likeness, similarity } from "./likeness.ts";
import { type Item, isOnlyOneAt, type Surveyed, seenSurvey, survey } from "./survey.ts";

/** A target of the changed page that could be the missing one. */
export interface Candidate extends Likeness {
  readonly target: Target;
  readonly item: Item;
}

/** Below this, an element is another one. */
const LEAST = { green: 0.45, words: 0.55 };
const MAX_CANDIDATES = 5;
const MAX_FRAMES = 5;

/**
 * The elements of a page that are most like a target's, the best first, each with a target that matches only it.
 *
 * @param green what the target was in the last green run; without it, its words are compared.
 */
export async function candidatesOn(
  page: Page,
  old: Target,
  green: Surveyed | undefined,
): Promise<Candidate[]> {
  const scored: (Likeness & { item: Item; frame: string | undefined })[] = [];
  for (const frame of page.frames().slice(0, MAX_FRAMES)) {
    const name = frame === page.mainFrame() ? undefined : await frameName(frame);
    // Only those that a target can name.
    if (name === "" || frame.parentFrame()?.parentFrame()) continue;
    const read = await frame
      .locator(":root")
      .evaluateAll(survey, "all" as const)
      .then((all) => seenSurvey(all, secretsOn(page)?.seen))
      .catch(() => undefined);
    for (const [at, item] of (read?.items ?? []).entries()) {
      const known = green?.item === undefined ? undefined : { ...green, item: green.item };
      const like =
        known === undefined ? likeWords(old, item) : likeness(known, item, at, read?.keys ?? []);
      if (like.score >= (known === undefined ? LEAST.words : LEAST.green))
        scored.push({ ...like, item, frame: name });
    }
  }
  const candidates: Candidate[] = [];
  for (const { item, frame, ...like } of scored.toSorted((a, b) => b.score - a.score)) {
    if (candidates.length >= MAX_CANDIDATES) break;
    const target = await targetFor(page, item, old, frame);
    // An element and the one around it often have the same name.
    if (
      target !== undefined &&
      !candidates.some((one) => describeTarget(one.target) === describeTarget(target))
    )
      candidates.push({ ...like, item, target });
  }
  return candidates;
}

/** How like the words of a target an element is, where no green run is kept. */
function likeWords({ base }: Target, item: Item): Likeness {
  const role = base.kind === "role" ? base.role : undefined;
  const said = base.kind === "role" ? base.name : base.kind === "css" ? base.css : base.text;
  const texts: [string, string][] = [["name", item.name], ...Object.entries(item.attributes)];
  const [[where, alike] = ["name", 0]] = texts
    .map(([key, text]): [string, number] => [key, similarity(said ?? "", text)])
    .sort(([, one], [, other]) => other - one);
  const why = `its ${where} is ${Math.round(alike * 100)} % similar`;
  if (role === undefined) return { score: item.visible ? 0.8 * alike : 0, why };
  const score = (role === item.role ? 0.35 : 0) + 0.5 * alike;
  return { score: item.visible ? score : 0, why: role === item.role ? `same role, ${why}` : why };
}

/** A target in words that users know, which matches only this element. */
async function targetFor(
  page: Page,
  item: Item,
  old: Target,
  frame: string | undefined,
): Promise<Target | undefined> {
  const root: Target | undefined =
    frame === undefined
      ? undefined
      : { base: { kind: "frame", text: frame }, pick: undefined, inside: undefined };
  const scopes = [
    root,
    ...(old.inside === undefined || frame !== undefined ? [] : [old.inside]),
    ...item.around.flatMap((one) => aroundTarget(one, root)),
  ];
  for (const inside of scopes)
    for (const base of basesFor(item, old)) {
      const target: Target = { base, pick: undefined, inside };
      if (
        oneLine(describeTarget(target)) === describeTarget(target) &&
        (await isOnly(page, target, item.path))
      )
        return target;
    }
  // A position only where there was one before.
  if (old.pick === undefined) return undefined;
  for (const base of basesFor(item, old))
    for (let pick = 1; pick <= 20; pick++) {
      const target: Target = { ...old, base, pick };
      if (await isOnly(page, target, item.path)) return target;
    }
  return undefined;
}

const isOnly = (page: Page, target: Target, path: readonly string[], meaning?: Meaning) =>
  onAll(targetOn(page, target, meaning), isOnlyOneAt, path)
    .then((is) => is === true)
    .catch(() => false);

/** The names for an element, in the order of how well users know them; the kind that the old one had comes first. */
function basesFor({ role, name, text, attributes, tag }: Item, old: Target): Base[] {
  const bases: Base[] = [];
  const isField =
    /^(?:textbox|searchbox|combobox|checkbox|radio|spinbutton|slider|switch|listbox)$/.test(role);
  const isNamed =
    name !== "" && !/^(?:listitem|list|paragraph|generic|form|banner|contentinfo)$/.test(role);
  if (isRole(role) && isNamed)
    for (const exact of [false, true]) bases.push({ kind: "role", role, name, exact });
  if (isField && name !== "" && attributes["placeholder"] !== name)
    bases.push({ kind: "label", text: name, exact: false });
  if (attributes["placeholder"])
    bases.push({ kind: "placeholder", text: attributes["placeholder"], exact: false });
  if (attributes["alt"]) bases.push({ kind: "alt", text: attributes["alt"], exact: false });
  if (attributes["data-testid"])
    bases.push({ kind: "testid", text: attributes["data-testid"], exact: false });
  if (text !== "" && text.length < 100 && !isField)
    for (const exact of [false, true]) bases.push({ kind: "text", text, exact });
  const { id = "" } = attributes;
  // One that a program made changes with the next build.
  if (/^[a-z][a-z_-]*\d?$/i.test(id)) bases.push({ kind: "css", css: `#${id}` });
  if (/^(?:h[1-6]|main|nav|header|footer|dialog|table|form)$/.test(tag))
    bases.push({ kind: "css", css: tag });
  // A whole text in its letter case stays one.
  if ("exact" in old.base && old.base.exact)
    for (const base of bases) if ("exact" in base) base.exact = true;
  const isLikeOld = (base: Base) => base.kind === old.base.kind;
  return [...bases.filter(isLikeOld), ...bases.filter((base) => !isLikeOld(base))];
}

/** An element around another, as a target: `dialog 'Settings'`. */
function aroundTarget(around: string, inside: Target | undefined): Target[] {
  const [role = "", name = ""] = [
    around.slice(0, around.indexOf(" ")),
    around.slice(around.indexOf(" ") + 1),
  ];
  if (!isRole(role) || name === "" || name === role) return [];
  const isRow = /^(?:row|listitem|treeitem|option|article)$/.test(role);
  const base: Base = { kind: "role", role, name: isRow ? undefined : name, exact: false };
  return [{ base, pick: undefined, inside, ...(isRow ? { containing: name } : {}) }];
}
