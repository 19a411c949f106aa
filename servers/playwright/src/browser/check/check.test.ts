import { readFile } from "node:fs/promises";
import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { makeTester } from "../../../test/testers.ts";

/** Shows "Loading…", then, with the response, what `then` does. The request is made by the load, or by an event. */
const loading = (then: string, event?: string) =>
  page(`<h1>Orders</h1><p id="state">Loading…</p><p id="e"></p><ul><li>1</li></ul>
    <button disabled>Save</button><input id="go" aria-label="Go" aria-expanded="false"><script>const go = document.querySelector("#go");
    const load = () => fetch("/data").then((answer) => answer.text()).then(() => { ${then} });
    ${event === undefined ? "load()" : `${event} = load`}</script>`);
const ERROR = `
  document.querySelector("#e").textContent = "Error";
  document.querySelector("ul").innerHTML += "<li>2</li>";
  document.querySelector("button").disabled = false; go.ariaExpanded = true;
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

const assertions = [
  "'Error' is not visible",
  "#e does not contain 'Error'",
  "li count is 1",
  "button 'Save' is disabled",
  "url does not contain 'failed'",
  "no 'Error'",
  "#go is not expanded",
  "#go is collapsed",
  "expect(page.locator('#e')).toHaveText('')",
];

it("a check that could pass before the page is complete fails if it no longer holds once the page has settled", async () => {
  const { url } = await orders(ERROR);
  const report = await lab.run({ url, assertions });
  expect(report.assertions.filter(({ passed }) => passed)).toEqual([]);
  // It may appear while the check looks at what a reader sees.
  expect(report.assertions[0]?.actual).toMatch(/^it is visible$|^the page shows "Error"$/);
  expect(report.assertions[2]?.actual).toBe("the count is 2");
});

it("a check that could pass before the page is complete passes if it still holds, also after waiting", async () => {
  const { url } = await orders('document.querySelector("#state").remove();');
  const report = await lab.run({ url, assertions: [...assertions, "'Loading' is not visible"] });
  expect(report.assertions.filter(({ passed }) => !passed)).toEqual([]);
});

it("a check that could pass before the page is complete fails as an expect step, and passes as a step that only waits", async () => {
  const { url } = await orders(ERROR, "go.oninput");
  const steps = [
    ...["wait for li count is 1", "wait for 'Error' is hidden"],
    ...["fill '#go' with 'x'", "expect 'Error' is hidden"],
  ];
  expect((await lab.run({ url, steps })).failed_step).toBe(
    "expect 'Error' is hidden: it is visible",
  );
});

it.each([[["h1 contains 'rders'"]], [[]]])(
  "the screenshot shows the page after data arrived, with the checks %j",
  async (assertions) => {
    const { url } = await orders(RED);
    const report = await lab.run({ url, assertions, evidence: ["screenshot"] });
    expect(report.passed).toBe(true);
    const { data, width, height } = PNG.sync.read(
      await readFile(report.artifacts?.[0]?.path ?? ""),
    );
    const at = 4 * (width * (height - 2) + 1);
    expect([...data.subarray(at, at + 3)]).toEqual([255, 0, 0]);
  },
);
