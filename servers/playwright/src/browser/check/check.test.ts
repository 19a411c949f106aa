import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { makeTester } from "../../../test/testers.ts";

/** Shows "Loading…", then, with the response, what `then` does. The request is made by the load, or by an event. */
const loading = (then: string, event?: string) =>
  page(`<h1>Orders</h1><p id="state">Loading…</p><p id="e"></p><ul><li>1</li></ul>
    <button disabled>Save</button><input id="go" aria-label="Go"><script>const go = document.querySelector("#go");
    const load = () => fetch("/data").then((answer) => answer.text()).then(() => { ${then} });
    ${event === undefined ? "load()" : `${event} = load`}</script>`);
const ERROR = `
  document.querySelector("#e").textContent = "Error";
  document.querySelector("ul").innerHTML += "<li>2</li>";
  document.querySelector("button").disabled = false;
  history.pushState(null, "", "/failed");
  fetch("/report");`;
const RED =
  'document.querySelector("h1").textContent = "3 orders"; document.body.style.background = "red";';

const lab = makeTester();

const orders = (then: string, event?: string) =>
  site({
    "/": loading(then, event),
    "/data": (_, response) => void setTimeout(() => response.end("[]"), 400),
    "/report": "",
  });

describe("a check that could pass before the page is complete", () => {
  const assertions = [
    "'Error' is not visible",
    "'Error' is hidden",
    "'Error' does not exist",
    "#e does not contain 'Error'",
    "#e is empty",
    "li count is 1",
    "li count at most 1",
    "button 'Save' is disabled",
    "url does not contain 'failed'",
    "no 'Error'",
  ];

  it("fails if it no longer holds once the page has settled", async () => {
    const { url } = await orders(ERROR);
    const report = await lab.run({ url, assertions });
    expect(report.assertions.filter(({ passed }) => passed)).toEqual([]);
    expect(report.assertions[0]?.actual).toBe("it is visible");
    expect(report.assertions[5]?.actual).toBe("the count is 2");
  });

  it("passes if it still holds, also after waiting", async () => {
    const { url } = await orders('document.querySelector("#state").remove();');
    const report = await lab.run({ url, assertions: [...assertions, "'Loading' is not visible"] });
    expect(report.assertions.filter(({ passed }) => !passed)).toEqual([]);
  });

  it("fails as an expect step, and passes as a step that only waits", async () => {
    const { url } = await orders(ERROR, "go.oninput");
    const steps = [
      ...["wait for li count is 1", "wait for 'Error' is hidden"],
      ...["fill '#go' with 'x'", "expect 'Error' is hidden"],
    ];
    expect((await lab.run({ url, steps })).failed_step).toBe(
      "expect 'Error' is hidden: it is visible",
    );
  });
});

describe("the screenshot shows the page that was judged", () => {
  const corner = async (url: string, assertions: readonly string[]) => {
    const report = await lab.run({ url, assertions, evidence: ["screenshot"] });
    expect(report.passed).toBe(true);
    const uri = report.artifacts?.find(({ name }) => name.endsWith(".png"))?.uri ?? "";
    const { data, width, height } = PNG.sync.read(await readFile(fileURLToPath(uri)));
    const at = 4 * (width * (height - 2) + 1);
    return [...data.subarray(at, at + 3)];
  };

  it.each([
    ["a check that passes at once", ["h1 contains 'rders'"]],
    ["no check", []],
  ])("after data arrived, with %s", async (_, assertions) => {
    const { url } = await orders(RED);
    expect(await corner(url, assertions)).toEqual([255, 0, 0]);
  });
});
