import type { Locator, Page } from "playwright";
import type { Base, Target } from "../language/ast.ts";

type Root = Page | Locator;

/**
 * A target as Playwright finds it.
 *
 * @param field a bare text in quotes is a field's label or placeholder, not a text on the page.
 */
export function locatorOf(page: Page, target: Target, field = false): Locator {
  const root: Root = target.inside === undefined ? page : locatorOf(page, target.inside);
  const all = baseLocator(root, target.base, field);
  if (target.pick === undefined) return all;
  if (target.pick === "first") return all.first();
  return target.pick === "last" ? all.last() : all.nth(target.pick - 1);
}

function baseLocator(root: Root, base: Base, field: boolean): Locator {
  switch (base.kind) {
    case "css":
      return root.locator(`css=${base.css}`);
    case "role":
      return root.getByRole(base.role, base.name === undefined ? {} : { name: base.name });
    case "text":
      return root.getByText(base.text);
    case "label":
      return root.getByLabel(base.text);
    case "placeholder":
      return root.getByPlaceholder(base.text);
    case "alt":
      return root.getByAltText(base.text);
    case "testid":
      return root.getByTestId(base.text);
    case "quoted":
      return field
        ? root.getByLabel(base.text).or(root.getByPlaceholder(base.text))
        : root.getByText(base.text);
  }
}
