import type { ElementHandle, Page } from "playwright";
import { SEVERITIES, type Severity, type Target } from "../language/ast.ts";
import type { Outcome } from "./expectation.ts";
import { targetOn } from "./locate.ts";
import { shown } from "./strict.ts";

export interface Violation {
  readonly id: string;
  readonly impact: Severity;
  readonly help: string;
  readonly elements: readonly string[];
  readonly count: number;
}

const MAX_ELEMENTS = 10;

/** The violations that axe-core finds in the page or the given element, worst first. */
export async function violationsOf(page: Page, scope: ElementHandle | null = null): Promise<Violation[]> {
  const { source } = (await import("axe-core")).default;
  await page.evaluate(`if (!window.axe) { ${source} }`);
  const found = await page.evaluate(judge, scope);
  return found
    .map((one) => ({
      ...one,
      impact: SEVERITIES.find((severity) => severity === one.impact) ?? "minor",
      elements: one.elements.slice(0, MAX_ELEMENTS),
      count: one.elements.length,
    }))
    .sort((a, b) => SEVERITIES.indexOf(b.impact) - SEVERITIES.indexOf(a.impact) || (a.id < b.id ? -1 : 1));
}

/** Runs in the page, where axe-core is loaded. */
async function judge(
  scope: Node | null,
): Promise<{ id: string; impact: string; help: string; elements: string[] }[]> {
  const axe: { run(context: Node, options: object): Promise<{ violations: unknown[] }> } = Reflect.get(
    window,
    "axe",
  );
  const { violations } = await axe.run(scope ?? document, { resultTypes: ["violations"], iframes: false });
  return violations.map((violation) => {
    const { id, impact, help, nodes } = Object(violation);
    const elements: string[] = Array.isArray(nodes)
      ? nodes.slice(0, 200).map((node) => String(node.target).slice(0, 200))
      : [];
    return { id: String(id), impact: String(impact), help: String(help).slice(0, 300), elements };
  });
}

/** Judges that there is no violation of at least this severity. */
export async function a11yOutcome(page: Page, minimum: Severity, target?: Target): Promise<Outcome> {
  // The page has settled, so there is no point in waiting.
  const scopes = target === undefined ? [null] : await targetOn(page, target).elementHandles();
  const [scope] = scopes;
  if (scope === undefined) return { passed: false, actual: "nothing matches the target" };
  if (scopes.length > 1) return { passed: false, actual: `${scopes.length} elements match the target` };
  const from = SEVERITIES.indexOf(minimum);
  const found = (await violationsOf(page, scope)).filter(({ impact }) => SEVERITIES.indexOf(impact) >= from);
  if (found.length === 0) return { passed: true, actual: "there are none" };
  const lines = found.slice(0, 5).map(({ id, impact, count, elements }) => {
    const more = count > 1 ? ` and ${count - 1} more` : "";
    return `${id} (${impact}) at ${shown(elements[0] ?? "", 80).slice(1, -1)}${more}`;
  });
  const rest = found.length > 5 ? `; and ${found.length - 5} more rules` : "";
  return {
    passed: false,
    actual: `${found.length} ${found.length === 1 ? "rule is" : "rules are"} violated: ${lines.join("; ")}${rest}`,
  };
}
