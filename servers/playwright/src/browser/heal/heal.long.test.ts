import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { CALL, makeTester, requestOf, type TestTester } from "../../../test/testers.ts";
import { healRun } from "./heal.ts";

const NAV = '<nav aria-label="Main"><a href="/">Home</a> <a href="/help">Help</a></nav>';
const saving =
  "onclick=\"document.getElementById('out').textContent = 'Saved ' + document.querySelector('input').value\"";
const edit =
  "onclick=\"document.getElementById('out').textContent = this.parentElement.firstChild.nodeValue.trim()\"";
const FORM = page(
  `${NAV}<main><h1>Profile</h1><form id="profile" onsubmit="return false"><label>Name <input></label>
   <button type="button" id="save-button" data-testid="save" ${saving}>Save</button><button type="button">Cancel</button></form>
   <button type="button">Archive</button>
   <p id="out"></p><ul><li>Apples <button ${edit}>Edit</button></li><li>Pears <button ${edit}>Edit</button></li></ul></main>`,
);
const STEPS = ["fill label 'Name' with 'Ada'", "click button 'Save'"];
const ASSERTIONS = ["#out is 'Saved Ada' within 3s"];

interface Break {
  readonly change: (html: string) => string;
  readonly steps?: string[];
  readonly assertions?: string[];
  /** The changed sentences. */
  readonly heals?: readonly string[];
  readonly asks?: readonly string[];
}
const replacing = (from: string | RegExp, to: string) => (html: string) => {
  if (html.replace(from, to) === html) throw new Error(`the page has no ${from}`);
  return html.replace(from, to);
};
const BUTTON = /<button type="button" id="save-button"(.*?)>Save<\/button>/;

/** Breaks of real kinds. */
const BREAKS: Record<string, Break> = {
  "a renamed label": {
    heals: ["fill label 'Who are you?' with 'Ada'"],
    change: replacing("<label>Name ", "<label>Who are you? "),
  },
  "a renamed button": {
    heals: ["click button 'Store changes'"],
    change: replacing(">Save<", ">Store changes<"),
  },
  "a changed role": {
    heals: ["click link 'Save'"],
    change: replacing(BUTTON, '<a href="#" id="save-button"$1>Save</a>'),
  },
  "moved into a dialog": {
    heals: ["click button 'Save'"],
    steps: ["fill label 'Name' in #profile with 'Ada'", "click button 'Save' in #profile"],
    change: (html) =>
      replacing(
        BUTTON,
        "",
      )(
        html.replace(
          '<p id="out">',
          `<div role="dialog" aria-label="Finish"><button ${saving}>Save</button></div><p id="out">`,
        ),
      ),
  },
  "a dropped test id": {
    heals: ["click button 'Save'"],
    steps: ["fill label 'Name' with 'Ada'", "click testid 'save'"],
    change: replacing(' data-testid="save"', ""),
  },
  "an added twin": {
    heals: ["click testid 'save'"],
    change: replacing(
      "</main>",
      '<section aria-label="Draft"><h2>Draft</h2><button>Save</button></section></main>',
    ),
  },
  "a reordered list": {
    heals: ["click button 'Edit' in listitem containing 'Pears'"],
    steps: ["click button 'Edit' in nth 2 li"],
    assertions: ["#out is 'Pears' within 3s"],
    change: replacing(/(<li>Apples.*?<\/li>)(<li>Pears.*?<\/li>)/, "$2$1"),
  },
  "another letter case": {
    heals: ["fill label exactly 'NAME' with 'Ada'", "click button exactly 'SAVE'"],
    steps: ["fill label exactly 'Name' with 'Ada'", "click button exactly 'Save'"],
    change: (html) => html.replace("<label>Name ", "<label>NAME ").replace(">Save<", ">SAVE<"),
  },
  "another language": {
    heals: ["fill label 'Imię' with 'Ada'", "click button 'Zapisz'"],
    change: (html) =>
      html
        .replace("<label>Name ", "<label>Imię ")
        .replace(">Save<", ">Zapisz<")
        .replace(">Cancel<", ">Anuluj<")
        .replace(/Edit/g, "Zmień")
        .replace("Profile", "Profil")
        .replace(">Home<", ">Start<")
        .replace(">Help<", ">Pomoc<")
        .replace(' id="save-button" data-testid="save"', ""),
  },
  "a removed feature": { change: replacing(BUTTON, "") },
  "a changed text": {
    asks: ["#out is 'Stored Ada' within 3s"],
    change: replacing("'Saved '", "'Stored '"),
  },
  "a changed name that is checked": {
    asks: ["button 'Store' is visible within 300ms"],
    assertions: ["button 'Save' is visible within 300ms"],
    steps: [],
    change: replacing(">Save<", ">Store<"),
  },
  "a disabled button": { change: replacing('id="save-button"', 'id="save-button" disabled') },
  "another number": {
    steps: [],
    assertions: ["li count is 2 within 300ms"],
    change: replacing(/<li>Pears.*?<\/li>/, ""),
  },
  "an element that must not be there": {
    steps: [],
    assertions: ["no .error"],
    change: replacing("</h1>", "</h1><p class=error>No</p>"),
  },
  "wrapped in a frame": {
    heals: ["click button 'Cancel' in frame 'Actions'"],
    steps: ["click button 'Cancel'"],
    assertions: ["h1 is 'Profile'"],
    change: replacing(
      '<button type="button">Cancel</button>',
      '<iframe title="Actions" srcdoc="<button>Cancel</button>"></iframe>',
    ),
  },
};

let lab: TestTester;
let html = FORM;
let url: string;
beforeAll(async () => {
  const web = await site({
    "*": (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(html),
  });
  url = web.url;
  lab = await makeTester();
});
afterAll(() => lab.close());

/** Runs a test on the page, where it passes, then on the changed page, where it fails, and heals that. */
async function healed({ change, steps = STEPS, assertions = ASSERTIONS }: Break) {
  html = FORM;
  const request = { url: `${url}/${Math.random()}`, steps, assertions };
  const green = await lab.run(request);
  expect(green.passed, JSON.stringify(green)).toBe(true);
  html = change(FORM);
  const red = await lab.run(request);
  expect(red.passed, JSON.stringify(red)).toBe(false);
  return heal(red.run_id ?? "");
}

const heal = (runId: string) =>
  healRun(
    {
      drivers: { run: (request, call) => lab.tester.run(requestOf(request), call) },
      runs: lab.tester.options.runs,
    },
    { runId, timeoutMs: 240_000 },
    CALL,
  );

describe("healing a run", () => {
  it.each(Object.entries(BREAKS))("%s", async (_, given) => {
    const healing = await healed(given);
    const { heals = [], asks = [] } = given;
    expect(healing.changes.map(({ after }) => after)).toEqual(heals);
    expect(healing.questions.map(({ after }) => after)).toEqual(asks);
    const outcome = heals.length > 0 ? "healed" : asks.length > 0 ? "question" : "defect";
    expect(healing.outcome).toBe(outcome);
    expect(healing.red_runs).toHaveLength(heals.length);
    if (outcome === "defect") expect(healing.summary).toContain("This looks like a real defect: ");
    const { runs } = lab.tester.options;
    for (const id of healing.red_runs)
      expect((await runs.done(id)).kept, "a run that failed").toBeUndefined();
    if (healing.green_run !== undefined)
      expect((await runs.done(healing.green_run)).kept).toBeDefined();
  });

  it("compares the words of a sentence if no run that passed is kept, and says so", async () => {
    html = FORM.replace(">Archive<", ">Archive now<");
    const steps = ["click button exactly 'Archive'"];
    const { run_id: id = "" } = await lab.run({ url: `${url}/new`, steps });
    const { outcome, changes, notes } = await heal(id);
    expect({ outcome, after: changes.map(({ after }) => after) }).toEqual({
      outcome: "healed",
      after: ["click button exactly 'Archive now'"],
    });
    expect(notes).toEqual([expect.stringContaining("no earlier run that passed is kept")]);
  });

  it("leaves the choice to the user if the run passes with either of two elements", async () => {
    const twins =
      "<section><button>Archive all</button></section><section><button>Archive old</button></section>";
    const { outcome, questions, changes } = await healed({
      steps: ["click button 'Archive'"],
      assertions: ["h1 is 'Profile'"],
      change: replacing('<button type="button">Archive</button>', twins),
    });
    expect({ outcome, changes }).toEqual({ outcome: "question", changes: [] });
    expect(questions.map(({ after }) => after).sort()).toEqual([
      "click button 'Archive all'",
      "click button 'Archive old'",
    ]);
  });

  it("reports that a run passes now", async () => {
    html = "<h1>Down</h1>";
    const { run_id: id = "" } = await lab.run({ url, assertions: ["h1 is 'Profile'"] });
    html = FORM;
    expect(await heal(id)).toMatchObject({ outcome: "passes", changes: [], runs: 1 });
  });

  it("fails without the target, also if the page shows it again and again", async () => {
    html = page(
      `<div id="app"></div><script>setInterval(() => { if (!document.querySelector("h1")) document.querySelector("#app").innerHTML = "<h1>Docs</h1>" }, 5)</script>`,
    );
    const remove = { list: "assertions", index: 0, point: 0 } as const;
    const request = { url, assertions: ["h1 is visible within 1s"] };
    expect((await lab.run(request)).passed).toBe(true);
    expect((await lab.run({ ...request, heal: { greens: {}, remove } })).passed).toBe(false);
  });

  it("keeps no secret that a page shows, and offers none", async () => {
    const mirror = `oninput="for (const one of document.querySelectorAll('button')) one.title = one.name = this.value"`;
    const change = replacing(">Save<", ">Store<");
    html = FORM;
    const secret = "hunter2 & more";
    const shown = (text: string) =>
      text.replace("<label>Name <input>", `<label>Name <input ${mirror}></label><label>`);
    const steps = ["fill label 'Name' with secret 'PASSWORD'", "click button 'Save'"];
    html = shown(FORM);
    const request = { url: `${url}/secret`, steps, assertions: ["h1 is 'Profile'"] };
    const green = await lab.run(request);
    expect(green.passed).toBe(true);
    html = change(shown(FORM));
    const healing = await heal((await lab.run(request)).run_id ?? "");
    expect(healing).toMatchObject({
      outcome: "healed",
      changes: [{ after: "click button 'Store'" }],
    });
    const { runs } = lab.tester.options;
    const texts = [JSON.stringify(healing)];
    for (const id of [green.run_id ?? "", healing.green_run ?? "", ...healing.red_runs]) {
      const artifact = await runs.artifact(id, "report.json");
      texts.push(await readFile(artifact.path, "utf8"));
    }
    expect(texts.join("\n")).toContain('"title": "[secret PASSWORD]"');
    for (const part of [secret, "hunter2", "hunt"]) expect(texts.join("\n")).not.toContain(part);
  });
});
