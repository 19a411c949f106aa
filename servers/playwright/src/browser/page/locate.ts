import type { Frame, Locator, Page } from "playwright";
import type { Chain, Target } from "../language/ast.ts";
import { chainOf, isChain } from "../language/locator.ts";

/**
 * A planned locator on a page.
 *
 * @param written changes its texts.
 */
export function locatorOf(
  page: Page,
  { calls }: Chain,
  written = (text: string): string => text,
): Locator {
  let on: object = page;
  for (const { name, args } of calls)
    on = Object(
      Reflect.apply(
        Reflect.get(on, name),
        on,
        args.map((argument) => withLocators(page, argument, written)),
      ),
    );
  if (!isLocator(on)) throw new TypeError("the plan's last call returns no locator");
  return on;
}

const isLocator = (value: object): value is Locator => "waitFor" in value;

/** An argument, and the options in it, with locators in place of chains. */
function withLocators(page: Page, argument: unknown, written: (text: string) => string): unknown {
  if (isChain(argument)) return locatorOf(page, argument, written);
  if (typeof argument === "string") return written(argument);
  if (typeof argument !== "object" || argument === null || argument instanceof RegExp)
    return argument;
  return Object.fromEntries(
    Object.entries(argument).map(([name, value]) => [name, withLocators(page, value, written)]),
  );
}

export const targetOn = (page: Page, target: Target): Locator => locatorOf(page, chainOf(target));

export const countOf = (locator: Locator): Promise<number> => locator.count().catch(() => 0);

/** The name of a frame for a target; empty if it has none. */
export async function frameName(frame: Frame): Promise<string> {
  const element = await frame.frameElement().catch(() => undefined);
  const name = element?.evaluate((one) =>
    String(["title", "name", "id"].map((key) => Object(one).getAttribute(key)).find(Boolean) ?? ""),
  );
  return (await name?.catch(() => "")) ?? "";
}
