// The report of a run: its verdict, checks, console lines and images, which are read as resources.
import { fullscreenButton, plain } from "../../../../packages/core/views/controls.ts";
import { element, Host, textOf } from "../../../../packages/core/views/host.ts";
import {
  type Artifact,
  type Comparison,
  type Line,
  type Report,
  reportOf,
  seconds,
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
  const { failure, notes, console, isComparison } = report;
  const [then, now] = isComparison ? ["Before", "After"] : ["Baseline", "Now"];
  return [
    verdict(report),
    ...notes.map((note) => element("p", { class: "note" }, note)),
    ...(failure === undefined ? [] : [element("p", { class: "bad text" }, failure)]),
    ...checks(report),
    ...group(
      "Differences",
      comparisons.map((images) => comparison(images, then, now)),
    ),
    ...group(
      "Screenshots",
      pictures.map((picture, index) => folded(picture.title, index === 0, () => shot(picture))),
    ),
    ...group("Console", console.length === 0 ? [] : [plain(console.join("\n"))]),
    ...group("Files", files.map(file)),
  ];
}

const group = (title: string, parts: readonly HTMLElement[]): HTMLElement[] =>
  parts.length === 0 ? [] : [element("h2", {}, title), ...parts];

function verdict({ passed, verdict: text, facts, isComparison }: Report): HTMLElement {
  const [kind, word] = passed ? ["good", "✓ Passed"] : ["bad", "✗ Failed"];
  const mark = isComparison ? [] : [element("span", { class: kind }, word), ": "];
  return element(
    "div",
    { class: `card ${passed ? "passed" : ""}` },
    fullscreenButton(host),
    element("h1", {}, ...mark, text),
    element("p", { class: "note" }, facts.join(" · ")),
  );
}

/** More passed checks are folded: they would push the pictures out of sight. */
const MAX_PASSED = 10;

function checks({ lines, isComparison }: Report): HTMLElement[] {
  const list = (some: readonly Line[]) =>
    element("ul", { class: "checks" }, ...some.map((line) => check(line, isComparison)));
  const passed = lines.filter((line) => line.passed);
  if (passed.length <= MAX_PASSED) return [list(lines)];
  const failed = lines.filter((line) => !line.passed);
  const title = `${passed.length} ${isComparison ? "unchanged" : "passed"}`;
  return [list(failed), folded(title, failed.length === 0, async () => list(passed))];
}

function check(line: Line, isComparison: boolean): HTMLElement {
  const { name, passed, device, text = "", durationMs } = line;
  const [good, bad, sign] = isComparison
    ? ["unchanged", "changed", "≠"]
    : ["passed", "failed", "✗"];
  const label = { role: "img", "aria-label": passed ? good : bad, class: passed ? "good" : "bad" };
  const small = [device, durationMs === undefined ? undefined : seconds(durationMs)];
  const details = small.flatMap((detail) =>
    detail === undefined ? [] : [" ", element("small", {}, detail)],
  );
  const isShown = text !== "" && (isComparison || !passed);
  return element(
    "li",
    {},
    element("span", label, passed ? "✓" : sign),
    element("span", {}, name, ...details),
    ...(isShown ? [element("p", { class: "note text" }, text)] : []),
  );
}

/** Content that is loaded when it is first opened. */
function folded(title: string, isOpen: boolean, load: () => Promise<HTMLElement>): HTMLElement {
  const details = element("details", {}, element("summary", {}, title));
  const fill = async () => {
    const place = element("div", { role: "status" }, "Loading …");
    details.append(place);
    place.replaceWith(await load().catch((error: Error) => plain(error.message, true)));
  };
  details.addEventListener("toggle", () => void fill(), { once: true });
  details.open = isOpen;
  return details;
}

async function picture({ uri }: Artifact, alt: string): Promise<HTMLImageElement> {
  const [content] = await host.readResource(uri);
  if (content?.blob === undefined) throw new Error(`${alt} could not be read.`);
  return element("img", { src: `data:image/png;base64,${content.blob}`, alt });
}

const shot = async (artifact: Artifact): Promise<HTMLElement> =>
  element("div", { class: "shot" }, await picture(artifact, `Screenshot ${artifact.title}`));

/** Two images on top of each other, with a slider between them. */
function comparison({ actual, expected, diff }: Comparison, then: string, now: string) {
  const name = actual.name.replace(/.actual\.png$/, "");
  return folded(name, true, async () => {
    if (expected === undefined) return shot(diff ?? actual);
    const under = await picture(expected, `${then}: ${name}`);
    const over = await picture(actual, `${now}: ${name}`);
    over.className = "over";
    const images = { class: "shot compare", style: "--at: 50%" };
    const box = element("div", images, under, over, element("span", { class: "edge" }));
    const label = `${then} to ${now.toLowerCase()}, ${name}`;
    const input = element("input", { type: "range", value: "50", "aria-label": label });
    input.addEventListener("input", () => box.style.setProperty("--at", `${input.value}%`));
    const slider = element("div", { class: "bar note" }, then, input, now);
    const more = diff === undefined ? [] : [folded("Where they differ", false, () => shot(diff))];
    return element("div", {}, box, slider, ...more);
  });
}

/** A text, or how another program opens the file. */
function file({ name, title, uri, mimeType }: Artifact): HTMLElement {
  if (/^text\/|json$/.test(mimeType))
    return folded(name, false, async () => plain((await host.readResource(uri))[0]?.text ?? ""));
  if (!uri.startsWith("file://")) return element("p", { class: "note" }, title);
  const path = decodeURIComponent(new URL(uri).pathname).replace(/^\/(?=[A-Za-z]:)/, "");
  const quoted = `'${path.replaceAll("'", "'\\''")}'`;
  const isTrace = name.endsWith(".zip");
  return element("p", { class: "note" }, isTrace ? `npx playwright show-trace ${quoted}` : path);
}
