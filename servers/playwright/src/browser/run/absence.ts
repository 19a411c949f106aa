import type { Page } from "playwright";
import type { Absence } from "../language/ast.ts";
import type { Outcome } from "./expectation.ts";
import { isFailed, type PageRecord } from "./record.ts";
import { shown } from "./strict.ts";

/** Checks that something has not happened so far. */
export async function absenceOutcome(what: Absence, page: Page, record: PageRecord): Promise<Outcome> {
  switch (what) {
    case "console errors":
    case "console warnings": {
      const level = what === "console errors" ? "error" : "warning";
      const count = level === "error" ? record.counts.errors : record.counts.warnings;
      const lines = record.console.filter((line) => line.level === level);
      return outcome(
        count,
        what,
        lines.map(({ text, place }) => (place === undefined ? text : `${text} (${place})`)),
      );
    }
    case "page errors":
      return outcome(record.counts.pageErrors, what, record.pageErrors);
    case "failed requests": {
      const failed = record.requests.filter(isFailed);
      return outcome(
        failed.length,
        what,
        failed.map(({ method, url, failure, status }) => `${method} ${url}: ${failure ?? status}`),
      );
    }
    case "broken images": {
      const broken = await page.evaluate(brokenImages);
      return outcome(broken.length, what, broken);
    }
    case "horizontal overflow": {
      const { over, by } = await page.evaluate(widestOverflow);
      return {
        passed: over <= 1,
        actual:
          over <= 1
            ? "there is none"
            : `the page is ${over} px too wide${by === "" ? "" : `, by ${shown(by)}`}`,
      };
    }
    case "mixed content": {
      const secure = page.url().startsWith("https:");
      const plain = record.requests.filter(({ url }) => /^(?:http|ws):/i.test(url));
      const told = record.console.filter(({ text }) => text.startsWith("Mixed Content:"));
      const all = [...plain.map(({ url }) => url), ...told.map(({ text }) => text)];
      return outcome(secure ? all.length : 0, what, all);
    }
  }
}

/** Maximum findings in an answer. */
const MAX_SHOWN = 5;

function outcome(count: number, what: string, all: readonly string[]): Outcome {
  if (count === 0) return { passed: true, actual: "there are none" };
  const noun = count === 1 ? what.replace(/s$/, "") : what;
  const list = all.slice(0, MAX_SHOWN).map((one) => shown(one, 240));
  return {
    passed: false,
    actual: `${count} ${noun}${list.length === 0 ? "" : `, the first: ${list.join(", then ")}`}`,
  };
}

/** Runs in the page: the sources of images that failed to load. */
function brokenImages(): string[] {
  return [...document.images]
    .filter((image) => (image.currentSrc || image.src) !== "" && image.complete && image.naturalWidth === 0)
    .slice(0, 100)
    .map((image) => (image.currentSrc || image.src).slice(0, 500));
}

/** Runs in the page: how many pixels it scrolls to the right, and the widest element. */
function widestOverflow(): { over: number; by: string } {
  const root = document.scrollingElement ?? document.documentElement;
  const over = root.scrollWidth - root.clientWidth;
  let farthest = root.clientWidth + 1;
  let by = "";
  if (over > 1) {
    for (const element of [...document.querySelectorAll("body *")].slice(0, 20_000)) {
      const { right } = element.getBoundingClientRect();
      if (right + window.scrollX <= farthest) continue;
      farthest = right + window.scrollX;
      const [name] = element.classList;
      by =
        element.tagName.toLowerCase() +
        (element.id === "" ? "" : `#${element.id}`) +
        (name === undefined ? "" : `.${name}`);
    }
  }
  return { over, by };
}
