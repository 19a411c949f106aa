import type { Frame, Locator, Page } from "playwright";
import type { Base, Meaning, Role, Target } from "../language/ast.ts";
import { isRole } from "../language/elements.ts";
import { type Chain, chainOf, isChain } from "../language/plan.ts";
import type { Found } from "../language/script.ts";
import { snapshotLine } from "../library.ts";
import { startOf } from "../secrets/guard.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";

/** A planned locator on a page. */
export function locatorOf(page: Page, { calls }: Chain): Locator {
  const css = calls.flatMap(({ name, args }) => (name === "locator" ? String(args[0]) : []));
  let on = startOf(page, page, css);
  for (const { name, args } of calls) {
    const given = args.map((one) => (isChain(one) ? locatorOf(page, one) : one));
    on = Object(Reflect.apply(Reflect.get(on, name), on, given));
    if (name === "frameLocator") on = startOf(page, on, css);
  }
  if (!isLocator(on)) throw new TypeError("the plan's last call returns no locator");
  return on;
}

const isLocator = (value: object): value is Locator => "waitFor" in value;

export const targetOn = (page: Page, target: Target, meaning?: Meaning): Locator =>
  locatorOf(page, chainOf(target, meaning));

const NAME_MS = 1_000;

export const countOf = (locator: Locator): Promise<number> => locator.count().catch(() => 0);

/** Records which alternative of a bare quoted text, or of a field, matches, if its plan has several. */
export async function noteFound(
  page: Page,
  plan: Chain,
  target: Target,
  found: Found,
): Promise<void> {
  const { base } = target;
  if (
    (base.kind !== "quoted" && base.kind !== "field") ||
    !plan.calls.some(({ name }) => name === "or")
  )
    return;
  const { text = "", exact } = base;
  const byRole = (role: Role) => ({ kind: "role", role, name: text, exact }) as const;
  const isClicked = plan.calls.some(({ name }) => name === "getByText");
  // As in `chainOf`: a text, or what has it as its name only; or a label, or what else names a field.
  const alternatives: readonly Base[] = isClicked
    ? [byRole("button"), byRole("link"), { kind: "text", text, exact }]
    : [{ kind: "label", text, exact }, { kind: "placeholder", text, exact }, byRole("button")];
  const one = isClicked ? await locatorOf(page, plan).elementHandle({ timeout: NAME_MS }) : null;
  for (const alternative of alternatives) {
    const locator = targetOn(page, { ...target, base: alternative });
    const count = await locator.count();
    if (count === 0) continue;
    // The text can be in a deeper element of the button.
    const isAround = (outer: Node, inner: Node | null) => outer.contains(inner);
    if (isClicked && (count > 1 || !(await locator.evaluate(isAround, one, { timeout: NAME_MS }))))
      continue;
    found.set(base, alternative);
    return;
  }
}

/** Whether a selector names an element by its markup: `#user-name`, `[data-test="username"]`. */
export const isMarked = ({ base, pick, containing }: Target): boolean =>
  base.kind === "css" && /[#.[]/.test(base.css) && pick === undefined && containing === undefined;

/**
 * Records the role and name of an element that a selector found, if they match no other: a spec with them survives a
 * change of the markup.
 */
export async function noteNamed(
  page: Page,
  locator: Locator,
  target: Target,
  { found, secrets }: { readonly found: Found; readonly secrets: Pick<SecretsInRun, "redact"> },
): Promise<void> {
  const { role, name } = snapshotLine(await locator.ariaSnapshot({ depth: 1, timeout: NAME_MS }));
  // After a secret was written, a name that shows it is read as `[secret NAME]`.
  if (name === undefined || !isRole(role) || /\[secret\b/.test(secrets.redact(name))) return;
  for (const exact of [false, true]) {
    const named: Base = { kind: "role", role, name, exact };
    if ((await countOf(targetOn(page, { ...target, base: named }))) !== 1) continue;
    found.set(target.base, named);
    return;
  }
}

/** The name of a frame for a target; empty if it has none. */
export async function frameName(frame: Frame): Promise<string> {
  const element = await frame.frameElement().catch(() => undefined);
  const name = element?.evaluate((one) =>
    String(["title", "name", "id"].map((key) => Object(one).getAttribute(key)).find(Boolean) ?? ""),
  );
  return (await name?.catch(() => "")) ?? "";
}
