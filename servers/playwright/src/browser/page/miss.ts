import { nearest, oneLine } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import type { Target } from "../language/ast.ts";
import { snapshotLine } from "../library.ts";
import { quoted, spaced } from "../text.ts";
import { countOf, frameName, targetOn } from "./locate.ts";
import { TARGETED } from "./snapshot.ts";

const MAX_NEAREST = 3;
export const MAX_FRAMES = 10;
const MAX_NAME_CHARS = 80;
const SNAPSHOT_MS = 2_000;
const FIELD = /box|radio|slider|switch|spinbutton/;

/** Explains that nothing matches a target: which half of `X in Y` is missing, and the nearest elements of the page. */
export async function missing(page: Page, target: Target): Promise<string> {
  const nothing = `nothing matches ${target.text}`;
  const { inside, base, pick } = target;
  const matchCount = (one: Target) => countOf(targetOn(page, one));
  const isInFrame = inside?.base.kind === "frame";
  if (inside !== undefined && !isInFrame && (await matchCount(inside)) === 0)
    return `${nothing}: ${(await missing(page, inside)).replace("nothing matches", "there is no")}`;
  if (pick !== undefined) {
    const every = { ...target, pick: undefined };
    const count = await matchCount(every);
    if (count > 0) return `${nothing}: there ${count === 1 ? "is" : "are"} only ${count}`;
  }
  const { words, role: wanted } = base;
  if (words === undefined) return nothing;
  const elements = await elementsOf(page);
  const hasName = ({ name }: Named) =>
    spaced(name).toLowerCase().includes(spaced(words).toLowerCase());
  const isOfRole = ({ role }: Named) =>
    wanted === undefined ? base.kind !== "field" || FIELD.test(role) : role === wanted;
  const names = [...new Set(elements.filter(isOfRole).map(({ name }) => name))];
  const near = nearest(words, names).flatMap((name) => elements.filter((one) => one.name === name));
  const matches = [...elements.filter(hasName), ...near];
  const isKind = wanted !== undefined || base.kind === "field";
  const targets = (matches.length === 0 && isKind ? elements.filter(isOfRole) : matches).map(
    ({ sentence }) => sentence,
  );
  const list = [...new Set(targets)].slice(0, MAX_NEAREST).join(", ");
  return list === "" ? nothing : `${nothing}; the nearest: ${list}`;
}

interface Named {
  readonly role: string;
  readonly name: string;
  /** The element in our words. */
  readonly sentence: string;
}

/** The named elements of the page and of its frames. */
async function elementsOf(page: Page): Promise<Named[]> {
  const frames = page.frames().filter((one) => one.parentFrame() === page.mainFrame());
  const inFrames = frames.slice(0, MAX_FRAMES).map(async (frame) => {
    const name = await frameName(frame);
    const isSayable = name !== "" && oneLine(name) === name;
    return isSayable ? namedIn(frame.locator("body"), ` in frame ${quoted(name)}`) : [];
  });
  return (await Promise.all([namedIn(page, ""), ...inFrames])).flat();
}

async function namedIn(on: Pick<Page, "ariaSnapshot">, place: string): Promise<Named[]> {
  const snapshot = await on.ariaSnapshot({ timeout: SNAPSHOT_MS }).catch(() => "");
  return snapshot.split("\n").flatMap((line) => {
    const { role, name = "" } = snapshotLine(line);
    const isSayable = name !== "" && name.length <= MAX_NAME_CHARS && oneLine(name) === name;
    if (!isSayable || !TARGETED.has(role)) return [];
    return [{ role, name, sentence: `${role} ${quoted(name)}${place}` }];
  });
}
