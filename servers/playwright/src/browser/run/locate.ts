import type { Locator, Page } from "playwright";
import type { Target } from "../language/ast.ts";
import type { Found } from "../language/explicit.ts";
import { type Chain, chainOf, isChain, type Meaning } from "../language/plan.ts";
import { insideOf, rootOf } from "./guard.ts";

/** A planned locator on a page. */
export function locatorOf(page: Page, { calls }: Chain): Locator {
  const css = calls.flatMap(({ name, args }) => (name === "locator" ? String(args[0]) : []));
  let on: object = rootOf(page, css);
  for (const { name, args } of calls) {
    const given = args.map((one) => (isChain(one) ? locatorOf(page, one) : one));
    on = Object(Reflect.apply(Reflect.get(on, name), on, given));
    if (name === "frameLocator") on = insideOf(page, on, css);
  }
  return asLocator(on);
}

/** A target on a page. */
export const targetOn = (page: Page, target: Target, meaning?: Meaning): Locator =>
  locatorOf(page, chainOf(target, meaning));

/** Records which alternative of a bare quoted text matches, if its plan has several. */
export async function noteFound(page: Page, plan: Chain, target: Target, found: Found): Promise<void> {
  const { base } = target;
  if (base.kind !== "quoted" || !plan.calls.some(({ name }) => name === "or")) return;
  const { text, exact } = base;
  const alternatives = {
    label: { kind: "label", text, exact },
    placeholder: { kind: "placeholder", text, exact },
    button: { kind: "role", role: "button", name: text, exact },
  } as const;
  for (const word of ["label", "placeholder", "button"] as const) {
    if ((await targetOn(page, { ...target, base: alternatives[word] }).count()) === 0) continue;
    found.set(base, word);
    return;
  }
}

function asLocator(value: unknown): Locator {
  if (isLocator(value)) return value;
  throw new TypeError("the plan's last call returns no locator");
}

const isLocator = (value: unknown): value is Locator =>
  typeof value === "object" && value !== null && "waitFor" in value;
