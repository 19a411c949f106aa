// The report of a run: its verdict, checks, console lines and images, which are read as resources.
import "../../../../packages/core/views/view.css";
import { copyButton, fullscreenButton, plain } from "../../../../packages/core/views/controls.ts";
import "./view.css";
import { element, Host, textOf } from "../../../../packages/core/views/host.ts";
import {
  type Artifact,
  type Comparison,
  type Line,
  type Report,
  reportOf,
  sorted,
} from "./report.ts";

const host = new Host();

host.onResult = (result) => {
  const report = reportOf(result);
  document.body.replaceChildren(
    report === undefined ? plain(textOf(result), true) : element("main", {}, ...partsOf(report)),
  );
};
void host.connect("refmcp-report");

function partsOf(report: Report): HTMLElement[] {
  const { comparisons, pictures, files } = sorted(report.artifacts);
  const text = [...report.notes, ...(report.stopped === undefined ? [] : [report.stopped])];
  return [
    verdict(report),
    ...text.map((line) =>
      element("p", { class: line === report.stopped ? "failure" : "note" }, line),
    ),
    ...checks(report),
    ...group(
      "Differences",
      comparisons.map((one) =>
        comparison(one, report.isComparison ? ["Before", "After"] : ["Baseline", "Now"]),
      ),
    ),
    ...group(
      "Screenshots",
      pictures.map((picture, index) => folded(picture.title, index === 0, () => shot(picture))),
    ),
    ...group("Console", report.console.length === 0 ? [] : [plain(report.console.join("\n"))]),
    ...group("Files", files.map(file)),
  ];
}

function group(title: string, parts: readonly HTMLElement[]): HTMLElement[] {
  return parts.length === 0 ? [] : [element("h2", {}, title), ...parts];
}

function verdict({ passed, verdict: text, facts, isComparison }: Report): HTMLElement {
  const word = element(
    "span",
    { class: passed ? "good" : "bad" },
    passed ? "✓ Passed" : "✗ Failed",
  );
  const heading = isComparison ? element("h1", {}, text) : element("h1", {}, word, `: ${text}`);
  const shown = element("p", {}, facts.join(" · "));
  const full = fullscreenButton(host);
  return element("div", { class: passed ? "verdict passed" : "verdict" }, full, heading, shown);
}

/** The checks; if there are many, those that passed are folded. */
function checks({ lines, isComparison }: Report): HTMLElement[] {
  const list = (some: readonly Line[]) =>
    element("ul", { class: "checks" }, ...some.map((line) => check(line, isComparison)));
  const passed = lines.filter((line) => line.passed);
  if (lines.length === 0) return [];
  if (passed.length <= MAX_PASSED) return [list(lines)];
  const failed = lines.filter((line) => !line.passed);
  const title = `${passed.length} ${isComparison ? "unchanged" : "passed"}`;
  return [
    ...(failed.length === 0 ? [] : [list(failed)]),
    folded(title, failed.length === 0, async () => list(passed)),
  ];
}

/** More lines that say nothing new would push the pictures out of sight. */
const MAX_PASSED = 10;

function check({ name, passed, device, said, took }: Line, isComparison: boolean): HTMLElement {
  const [good, bad] = isComparison ? ["unchanged", "changed"] : ["passed", "failed"];
  const label = { role: "img", "aria-label": passed ? good : bad, class: passed ? "good" : "bad" };
  const text = element("span", {}, name);
  if (device !== undefined) text.append(" ", element("span", { class: "device" }, device));
  if (took !== undefined) text.append(" ", element("span", { class: "took" }, took));
  const line = element(
    "li",
    {},
    element("span", label, passed ? "✓" : isComparison ? "≠" : "✗"),
    text,
  );
  if (said !== undefined && (isComparison || !passed)) line.append(element("p", {}, said));
  return line;
}

/** Content that is loaded when it is first opened. */
function folded(title: string, isOpen: boolean, load: () => Promise<HTMLElement>): HTMLElement {
  const made = element("details", {}, element("summary", {}, title));
  const fill = async () => {
    const place = element("div", { role: "status" }, "Loading …");
    made.append(place);
    place.replaceWith(await load().catch((error: Error) => plain(error.message, true)));
  };
  made.addEventListener("toggle", () => void fill(), { once: true });
  made.open = isOpen;
  return made;
}

async function picture({ uri }: Artifact, description: string): Promise<HTMLImageElement> {
  const [content] = await host.readResource(uri);
  if (content?.blob === undefined) throw new Error(`${description} could not be read.`);
  return element("img", { src: `data:image/png;base64,${content.blob}`, alt: description });
}

async function shot(artifact: Artifact): Promise<HTMLElement> {
  return element("div", { class: "shot" }, await picture(artifact, `Screenshot ${artifact.title}`));
}

/** Two images on top of each other, with a slider between them. */
function comparison(
  { name, actual, expected, diff }: Comparison,
  [then, now]: readonly [string, string],
): HTMLElement {
  const [other, title] = expected === undefined ? [diff, "Differences"] : [expected, then];
  return folded(name, true, async () => {
    if (other === undefined) return shot(actual);
    const under = picture(other, `${title}: ${name}`);
    const over = await picture(actual, `${now}: ${name}`);
    over.className = "over";
    const edge = element("span", { class: "edge" });
    const box = element(
      "div",
      { class: "shot compare", style: "--at: 50%" },
      await under,
      over,
      edge,
    );
    const range = {
      type: "range",
      min: "0",
      max: "100",
      value: "50",
      "aria-label": `${title} to ${now.toLowerCase()}, ${name}`,
    };
    const input = element("input", range);
    input.addEventListener("input", () => box.style.setProperty("--at", `${input.value}%`));
    const slider = element("div", { class: "slider" }, title, input, now);
    const more =
      expected === undefined || diff === undefined
        ? []
        : [folded("Where they differ", false, () => shot(diff))];
    return element("div", {}, box, slider, ...more);
  });
}

function file(artifact: Artifact): HTMLElement {
  if (!/^text\/|json$/.test(artifact.mimeType)) return opened(artifact);
  return folded(artifact.name, false, async () => {
    const [content] = await host.readResource(artifact.uri);
    return plain(content?.text ?? "");
  });
}

/** A file that another program shows. */
function opened({ name, title, uri }: Artifact): HTMLElement {
  const text = name === title ? name : `${title}: ${name}`;
  const path = uri.startsWith("file://")
    ? decodeURIComponent(new URL(uri).pathname).replace(/^\/(?=[A-Za-z]:)/, "")
    : undefined;
  if (path === undefined) return element("p", { class: "note" }, text);
  const isTrace = name.endsWith(".zip");
  const command = isTrace ? `npx playwright show-trace '${path.replaceAll("'", "'\\''")}'` : path;
  const copy = copyButton(() => command, isTrace ? "Copy command to open the trace" : "Copy path");
  return element("p", { class: "note file" }, element("span", { title: path }, text), copy);
}
