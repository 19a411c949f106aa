import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AROUND, formsSite, playing, STEPS } from "../../../test/forms.ts";
import { makeTester } from "../../../test/testers.ts";

const site = await formsSite();
const lab = makeTester({ stepMs: 50_000 });
const SURE = "click button 'Sure'";
/** After the page's own dialog. */
const SURE_TWICE = ["wait for #late is 'here now'", "dismiss dialog", "accept dialog", SURE, SURE];
const file = join(lab.folder, "notes.txt");
await writeFile(file, '{"log":{"entries":[]}}\n');

it.each([
  ["around the page", AROUND, ["home.png"]],
  ["on the page", STEPS, ["home-1.png", "home-menu.png"]],
] as const)("every form of a step %s has its effect", async (_, forms, pictures) => {
  const steps = playing(forms, file, " within 50s");
  const report = await lab.run({ url: site.url, steps, evidence: ["screenshot"] });
  expect(report.failed_step).toBeUndefined();
  const names = report.artifacts?.map(({ name }) => name) ?? [];
  expect(names).toEqual(expect.arrayContaining([...pictures]));
  expect(JSON.stringify(report)).not.toContain("hunter2");
});

it.each([
  [["fill h1 with 'x'"], "Element is not an <input>"],
  [["go back", "go back"], "there is no page to go back to"],
  [[...SURE_TWICE, "expect #log is 'x'"], "sure false; sure true;"],
  [["click link"], "link matches 2 elements. Choose one: link 'Docs' (<a "],
])("every form of a step %j reports why it fails", async (steps, reason) => {
  const { failed_step } = await lab.run({ url: site.url, steps });
  expect(failed_step).toContain(reason);
});
