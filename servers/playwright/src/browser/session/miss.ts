import { nearest, oneLine } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import type { Base, Meaning, Target } from "../language/ast.ts";
import { isRole } from "../language/elements.ts";
import { spaced } from "../language/matching.ts";
import { quoted } from "../language/reader.ts";
import { describeTarget } from "../language/target.ts";
import { snapshotLine } from "../library.ts";
import { secretsOn } from "../secrets/guard.ts";
import { TARGETED } from "./snapshot.ts";
import { countOf, frameName, targetOn } from "./targets.ts";

const MAX_NEAREST = 3;
const MAX_FRAMES = 10;
const MAX_NAME_CHARS = 80;
const SNAPSHOT_MS = 2_000;
const MAX_LINES = 5_000;
const FIELDS = new Set(
  "textbox searchbox combobox listbox checkbox radio switch slider spinbutton".split(" "),
);

/**
 * Explains that nothing matches a target: which half of `X in Y` is missing, and what is there instead, as targets for
 * a sentence.
 */
export async function missing(page: Page, target: Target): Promise<string> {
  const nothing = `nothing matches ${describeTarget(target)}`;
  const { inside, base, pick, containing } = target;
  const counted = (one: Target) => countOf(targetOn(page, one));
  if (inside?.base.kind === "frame") {
    const frames = await framesOf(page);
    const { text } = inside.base;
    const known = frames.filter((one) => one !== "").map((one) => `frame ${quoted(one)}`);
    if (frames.includes(text)) return nothing;
    return `${nothing}: there is no frame ${quoted(text)}${known.length === 0 ? "" : `; the page has ${known.join(", ")}`}`;
  }
  if (inside !== undefined && (await counted(inside)) === 0)
    return `${nothing}: ${(await missing(page, inside)).replace("nothing matches", "there is no")}`;
  if (pick !== undefined) {
    const count = await counted({ ...target, pick: undefined });
    const every = describeTarget({ ...target, pick: undefined });
    if (count > 0) return `${nothing}: ${every} matches ${count} element${count === 1 ? "" : "s"}`;
  }
  if (containing !== undefined) {
    const { containing: _, ...any } = target;
    if ((await counted(any)) > 0)
      return `${nothing}: ${describeTarget(any)} exists, without this text`;
  }
  const place =
    inside === undefined
      ? ""
      : `: ${describeTarget(inside)} exists, ${(await counted({ ...target, inside: undefined })) === 0 ? "the rest does not" : "the rest is elsewhere"}`;
  if (
    base.kind === "role" &&
    base.name === undefined &&
    (await countOf(page.locator(base.role))) > 0
  )
    return `${nothing} (the role); for the HTML element write \`${base.role}\` in backticks`;
  const hints = [...(await frameHints(page, target)), ...(await nameHints(page, target))];
  return [`${nothing}${place}`, ...hints].join("; ");
}

/** The names of the page's frames; empty for one that has none. */
function framesOf(page: Page): Promise<string[]> {
  const frames = page.frames().filter((one) => one.parentFrame() === page.mainFrame());
  return Promise.all(frames.slice(0, MAX_FRAMES).map(frameName));
}

/** In which frames a target is. */
async function frameHints(page: Page, target: Target): Promise<string[]> {
  const inFrame = ({ inside, ...one }: Target, text: string): Target => ({
    ...one,
    inside:
      inside === undefined
        ? { pick: undefined, base: { kind: "frame", text }, inside: undefined }
        : inFrame(inside, text),
  });
  const meanings: readonly Meaning[] =
    target.base.kind === "quoted" ? ["text", "clickable", "field"] : ["text"];
  const found: string[] = [];
  for (const name of (await framesOf(page)).filter((one) => one !== "" && oneLine(one) === one)) {
    const there = inFrame(target, name);
    const counts = await Promise.all(
      meanings.map((meaning) => countOf(targetOn(page, there, meaning))),
    );
    if (counts.some((count) => count > 0)) found.push(describeTarget(there));
  }
  return found.length === 0 ? [] : [`there is ${found.slice(0, MAX_NEAREST).join(", ")}`];
}

interface Named {
  readonly role: string;
  readonly name: string;
}

/** The named elements of the page, or of the place where the target should be. */
async function namedOn(page: Page, inside: Target | undefined): Promise<Named[]> {
  const place = inside === undefined ? page : targetOn(page, inside).first();
  const whole = await place.ariaSnapshot({ timeout: SNAPSHOT_MS }).catch(() => "");
  const all = new Map<string, Named>();
  for (const line of whole.split("\n", MAX_LINES)) {
    const { role, name } = snapshotLine(line);
    if (name === undefined || name.length > MAX_NAME_CHARS || oneLine(name) !== name) continue;
    if (isRole(role)) all.set(sentence({ role, name }), { role, name });
  }
  return [...all.values()];
}

const sentence = ({ role, name }: Named) => `${role} ${quoted(name)}`;
const list = (all: readonly Named[]) => all.slice(0, MAX_NEAREST).map(sentence).join(", ");

/** What has nearly the wanted name, or the same under another role. */
async function nameHints(page: Page, target: Target): Promise<string[]> {
  const { base, inside } = target;
  const wanted = base.kind === "role" ? base.name : textOf(base);
  // Names could tell parts of a secret that the page shows.
  if (wanted === undefined || secretsOn(page)?.isWritten === true) return [];
  if (base.kind === "role") {
    const part: Target = {
      ...target,
      base: { ...base, name: undefined, exact: false },
      containing: wanted,
    };
    if ((await countOf(targetOn(page, part))) > 0) return [`write ${describeTarget(part)}`];
  }
  const all = await namedOn(page, inside);
  const isSame = ({ name }: Named) =>
    spaced(name).toLowerCase().includes(spaced(wanted).toLowerCase());
  const others = all.filter(
    (one) => isSame(one) && (base.kind === "role" || TARGETED.has(one.role)),
  );
  const candidates = all.filter(({ role }) =>
    base.kind === "role"
      ? role === base.role
      : (base.kind === "field" ? FIELDS : TARGETED).has(role),
  );
  const near = nearest(wanted, [...new Set(candidates.map(({ name }) => name))]);
  const words = spaced(wanted).toLowerCase().split(" ");
  const closeness = ({ name }: Named) => {
    const at = near.indexOf(name);
    const shared = words.filter((word) => name.toLowerCase().includes(word)).length;
    return at < 0 ? near.length + words.length - shared : at;
  };
  const sorted = [...candidates].sort((a, b) => closeness(a) - closeness(b));
  // Of a text without a role, everything else on the page would be as near.
  const nearby =
    base.kind === "role" || base.kind === "field"
      ? sorted
      : sorted.filter(({ name }) => near.includes(name));
  const isText = others.length === 0 && base.kind !== "quoted" && base.kind !== "text";
  const texts = isText
    ? await countOf(
        targetOn(page, { ...target, base: { kind: "text", text: wanted, exact: false } }),
      )
    : 0;
  const rest = nearby.filter((one) => !others.includes(one));
  return [
    ...(others.length === 0 ? [] : [`there is ${list(others)}`]),
    ...(texts === 0 ? [] : [`there is text ${quoted(wanted)}`]),
    ...(rest.length === 0 ? [] : [`the nearest: ${list(rest)}`]),
  ];
}

const textOf = (base: Base): string | undefined =>
  "text" in base && base.kind !== "testid" && base.kind !== "frame" ? base.text : undefined;
