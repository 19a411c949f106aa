import type { Locator, Page } from "playwright";
import type { Target } from "../language/ast.ts";
import { type Chain, chainOf, isChain, type Meaning } from "../language/plan.ts";

/** A planned locator on a page. */
export function locatorOf(page: Page, { calls }: Chain): Locator {
  let on: unknown = page;
  for (const { name, args } of calls) {
    const given = args.map((one) => (isChain(one) ? locatorOf(page, one) : one));
    on = Reflect.apply(Reflect.get(Object(on), name), on, given);
  }
  return asLocator(on);
}

/** A target on a page. */
export const targetOn = (page: Page, target: Target, meaning?: Meaning): Locator =>
  locatorOf(page, chainOf(target, meaning));

function asLocator(value: unknown): Locator {
  if (isLocator(value)) return value;
  throw new TypeError("the plan's last call gives no locator");
}

const isLocator = (value: unknown): value is Locator =>
  typeof value === "object" && value !== null && "waitFor" in value;
