import { appendFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright";
import { printTarget } from "../export/print.ts";
import { keepRemoved } from "../heal/broken.ts";
import { candidatesOn } from "../heal/candidates.ts";
import { noteElement } from "../heal/elements.ts";
import { saysSame } from "../heal/likeness.ts";
import type { Surveyed } from "../heal/survey.ts";
import type { Base, Target } from "../language/ast.ts";
import { isRole } from "../language/elements.ts";
import { chainOf } from "../language/plan.ts";
import { describeTarget } from "../language/target.ts";
import { locatorOf } from "../session/targets.ts";
import { type HookEvent, type HookOrder, type Site, siteName } from "./hook-order.ts";

// Loaded into the workers of the user's own Playwright Test while a spec is healed: notes where each locator is written
// and what it is on the page, uses another target for one of them, or removes its element.

interface Written {
  readonly page: Page;
  readonly sites: readonly Site[];
  readonly calls: readonly (readonly [name: string, ...args: unknown[]])[];
  readonly old: Target | undefined;
}

const FINDING =
  "getByRole getByText getByLabel getByPlaceholder getByAltText getByTitle getByTestId locator frameLocator";
const NARROWING = "first last nth filter";
const ACTING =
  "click dblclick fill type press pressSequentially check uncheck setChecked selectOption setInputFiles hover focus clear tap dragTo scrollIntoViewIfNeeded _expect";
const ATTACHED_MS = 3_000;

/** Whether this process runs tests: the workers, not the command that starts them, nor what a spec starts. */
const isWorker = /[\\/]playwright[\\/]lib[\\/]/.test(process.argv[1] ?? "");
const path = process.env["REFMCP_HEAL"];
if (isWorker && path !== undefined) {
  delete process.env["NODE_OPTIONS"];
  install(JSON.parse(readFileSync(path, "utf8")));
}

type Method = (...args: never[]) => unknown;

function install({ core, events, greens, targets, remove }: HookOrder): void {
  const { chromium } = createRequire(import.meta.url)(core);
  const written = new WeakMap<object, Written>();
  const patched = new Set<object>();
  const tell = (event: HookEvent) => appendFileSync(events, `${JSON.stringify(event)}\n`);

  /** Replaces methods of an object's class once. */
  const patch = (one: object, names: string, wrap: (name: string, method: Method) => Method) => {
    const proto: object = Object.getPrototypeOf(one);
    const kinds = names.split(" ").filter((name) => typeof Reflect.get(proto, name) === "function");
    if (kinds.every((name) => patched.has(Reflect.get(proto, name)))) return;
    for (const name of kinds) {
      const wrapped = wrap(name, Reflect.get(proto, name));
      patched.add(wrapped);
      Reflect.set(proto, name, wrapped);
    }
  };
  const seeing = (then: (made: object) => void) => (_: string, method: Method) =>
    async function (this: unknown, ...args: unknown[]) {
      const made: object = await Reflect.apply(method, this, args);
      then(made);
      return made;
    };
  patch(
    chromium,
    "launch connect connectOverCDP",
    seeing((browser) =>
      patch(
        browser,
        "newContext",
        seeing((context) => patch(context, "newPage", seeing(seePage))),
      ),
    ),
  );

  function seePage(page: object): void {
    const locator: object = Reflect.apply(Reflect.get(page, "locator"), page, ["html"]);
    const frame: object = Reflect.apply(Reflect.get(page, "frameLocator"), page, ["iframe"]);
    // Else a missing element would end the test, with its page, before anything can be looked at.
    Reflect.apply(Reflect.get(page, "setDefaultNavigationTimeout"), page, [30_000]);
    Reflect.apply(Reflect.get(page, "setDefaultTimeout"), page, [
      remove === undefined ? 6_000 : 2_000,
    ]);
    for (const one of [page, locator, frame]) patch(one, FINDING, finding);
    patch(locator, NARROWING, narrowing);
    patch(locator, ACTING, acting);
  }

  function finding(name: string, method: Method) {
    return function (this: object, ...args: unknown[]) {
      const site = siteOf(name, args);
      const parent = written.get(this);
      const page = parent?.page ?? this;
      const made: object = Reflect.apply(method, this, args);
      if (site === undefined || !isPage(page)) return made;
      const sites = [...(parent?.sites ?? []), site];
      const info: Written = {
        page,
        sites,
        calls: [...(parent?.calls ?? []), [name, ...args]],
        old: targetOf(name, args),
      };
      const other = targets.find((one) => one.site === siteName(site));
      const used =
        other === undefined ? made : otherLocator(this, page, other.target, other.isWhole);
      written.set(used, info);
      return used;
    };
  }

  function narrowing(name: string, method: Method) {
    return function (this: object, ...args: unknown[]) {
      const made: object = Reflect.apply(method, this, args);
      const info = written.get(this);
      if (info !== undefined)
        written.set(made, { ...info, calls: [...info.calls, [name, ...args.map(String)]] });
      return made;
    };
  }

  function acting(name: string, method: Method) {
    return async function (this: Locator, ...args: unknown[]) {
      const info = written.get(this);
      if (info === undefined) return Reflect.apply(method, this, args);
      const key = JSON.stringify(
        info.calls.map((call) => call.map((one) => (one instanceof RegExp ? String(one) : one))),
      );
      const last = info.sites.at(-1);
      const isRemoved = remove !== undefined && last !== undefined && siteName(last) === remove;
      const stop = isRemoved ? await keepRemovedAt(this) : undefined;
      const note = async () => {
        const found = new Map<object, Surveyed>();
        await noteElement(Object(found), OLD, this);
        const surveyed = found.get(OLD);
        if (surveyed !== undefined) tell({ kind: "element", key, surveyed });
      };
      const fail = async () => {
        const matches = await this.count().catch(() => 0);
        const isPassive = name === "_expect";
        const expression = isPassive ? String(args[0]) : "";
        const known = info.old;
        const offers =
          known === undefined || isRemoved
            ? []
            : await candidatesOn(info.page, known, greens[key]).catch(() => []);
        tell({
          ...{
            kind: "broken",
            key,
            sites: info.sites,
            matches,
            method: isPassive ? expression : name,
          },
          isExpectation: /visible|attached|in\.viewport/.test(expression),
          offers: offers
            .map(({ target, item, score, why }) => ({
              ...{ target, score, why, code: printTarget(target, "page").replace(/^page\./, "") },
              changesName: known !== undefined && !saysSame(known, item),
              isSame: known !== undefined && describeTarget(target) === describeTarget(known),
            }))
            .filter(({ isSame }) => !isSame || info.sites.length > 1),
        });
      };
      try {
        if (name !== "_expect" && !isRemoved) {
          await this.waitFor({ state: "attached", timeout: ATTACHED_MS }).catch(() => undefined);
          await note();
        }
        const result: unknown = await Reflect.apply(method, this, args);
        // An expectation answers whether it matches.
        if (name === "_expect" && Object(result).matches === Object(args[1]).isNot) await fail();
        else if (name === "_expect" && !isRemoved) await note();
        return result;
      } catch (error) {
        await fail();
        throw error;
      } finally {
        stop?.();
      }
    };
  }
}

/** A key for the one element that is noted. */
const OLD: Target = { base: { kind: "css", css: "*" }, pick: undefined, inside: undefined };

const isPage = (one: object): one is Page => "mainFrame" in one;

/** The locator for another target: on the page, or inside the locator before it. */
function otherLocator(parent: object, page: Page, target: Target, isWhole: boolean): object {
  if (isWhole || isPage(parent)) return locatorOf(page, chainOf(target));
  let on = parent;
  for (const { name, args } of chainOf(target).calls)
    on = Object(Reflect.apply(Reflect.get(on, name), on, args));
  return on;
}

async function keepRemovedAt(locator: Locator): Promise<() => void> {
  return keepRemoved(locator.page(), locator);
}

/** Where the caller of a method of Playwright is written. */
function siteOf(method: string, args: readonly unknown[]): Site | undefined {
  for (const line of (new Error().stack ?? "").split("\n").slice(3)) {
    const found = /\(?((?:file:\/\/)?[^()\s][^()]*?):(\d+):(\d+)\)?$/.exec(
      line.replace(/^\s*at (?:async )?/, "").replace(/^.*\(/, "("),
    );
    const [, path = "", row, column] = found ?? [];
    if (found === null || /node_modules|^node:|heal-hook/.test(path)) continue;
    return {
      file: path.startsWith("file:") ? fileURLToPath(path) : path,
      line: Number(row),
      column: Number(column),
      texts: [args[0], Object(args[1]).name].filter((one) => typeof one === "string"),
      method,
    };
  }
  return undefined;
}

/** A locator's last call as a target; undefined if it has no words to compare. */
function targetOf(name: string, args: readonly unknown[]): Target | undefined {
  const [first, options] = args;
  const text = String(first);
  const exact = Object(options).exact === true;
  const kinds = {
    ...{
      getByText: "text",
      getByLabel: "label",
      getByPlaceholder: "placeholder",
      getByAltText: "alt",
    },
    ...{ getByTitle: "title", getByTestId: "testid" },
  } as const satisfies Record<string, Base["kind"]>;
  const base = (): Base | undefined => {
    if (name === "locator")
      return typeof first === "string" ? { kind: "css", css: text } : undefined;
    if (name === "getByRole") {
      const given: unknown = Object(options).name;
      return isRole(text)
        ? { kind: "role", role: text, name: given === undefined ? undefined : String(given), exact }
        : undefined;
    }
    const [, kind] = Object.entries(kinds).find(([method]) => method === name) ?? [];
    return kind === undefined ? undefined : { kind, text, exact };
  };
  const found = base();
  return found === undefined ? undefined : { base: found, pick: undefined, inside: undefined };
}
