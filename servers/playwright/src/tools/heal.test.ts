import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { type Session, session, site } from "../../test/session.ts";

const NAV = '<nav aria-label="Main"><a href="/">Home</a> <a href="/help">Help</a></nav>';
const saving = "onclick=\"document.getElementById('out').textContent = 'Saved ' + document.querySelector('input').value\"";
const edit = "onclick=\"document.getElementById('out').textContent = this.parentElement.firstChild.nodeValue.trim()\"";
const FORM = page(
  `${NAV}<main><h1>Profile</h1><form id="profile" onsubmit="return false"><label>Name <input></label>
   <button type="button" id="save-button" data-testid="save" ${saving}>Save</button><button type="button">Cancel</button></form>
   <p id="out"></p><ul><li>Apples <button ${edit}>Edit</button></li><li>Pears <button ${edit}>Edit</button></li></ul></main>`,
);
const STEPS = ["fill label 'Name' with 'Ada'", "click button 'Save'"];
const ASSERTIONS = ["#out is 'Saved Ada'"];

interface Break {
  readonly change: (html: string) => string;
  readonly steps?: string[];
  readonly assertions?: string[];
}
const replacing = (from: string | RegExp, to: string) => (html: string) => {
  if (html.replace(from, to) === html) throw new Error(`the page has no ${from}`);
  return html.replace(from, to);
};
const BUTTON = /<button type="button" id="save-button"(.*?)>Save<\/button>/;

/** Breaks of real kinds. */
const BREAKS: Record<string, Break> = {
  "a renamed label": { change: replacing("<label>Name ", "<label>Who are you? ") },
  "a renamed button": { change: replacing(">Save<", ">Store changes<") },
  "a changed role": { change: replacing(BUTTON, '<a href="#" id="save-button"$1>Save</a>') },
  "moved into a dialog": {
    steps: ["fill label 'Name' in #profile with 'Ada'", "click button 'Save' in #profile"],
    change: (html) => replacing(BUTTON, "")(html.replace('<p id="out">', `<div role="dialog" aria-label="Finish"><button ${saving}>Save</button></div><p id="out">`)),
  },
  "a dropped test id": { steps: ["fill label 'Name' with 'Ada'", "click testid 'save'"], change: replacing(' data-testid="save"', "") },
  "an added twin": { change: replacing("</main>", '<section aria-label="Draft"><h2>Draft</h2><button>Save</button></section></main>') },
  "a reordered list": { steps: ["click button 'Edit' in nth 2 li"], assertions: ["#out is 'Pears'"], change: replacing(/(<li>Apples.*?<\/li>)(<li>Pears.*?<\/li>)/, "$2$1") },
  "another letter case": { steps: ["fill label exactly 'Name' with 'Ada'", "click button exactly 'Save'"], change: (html) => html.replace("<label>Name ", "<label>NAME ").replace(">Save<", ">SAVE<") },
  "another language": { change: (html) => html.replace("<label>Name ", "<label>Imię ").replace(">Save<", ">Zapisz<").replace(">Cancel<", ">Anuluj<").replace(/Edit/g, "Zmień").replace("Profile", "Profil").replace(">Home<", ">Start<").replace(">Help<", ">Pomoc<").replace(' id="save-button" data-testid="save"', "") },
  "a removed feature": { change: replacing(BUTTON, "") },
  "wrapped in a frame": { steps: ["click button 'Cancel'"], assertions: ["h1 is 'Profile'"], change: replacing('<button type="button">Cancel</button>', '<iframe title="Actions" srcdoc="<button>Cancel</button>"></iframe>') },
};

let talk: Session;
let html = FORM;
let url: string;
beforeAll(async () => {
  const web = await site({ "*": (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(html) });
  url = web.url;
  talk = await session();
});

/** A run that passes, then the same on the changed page, which must fail. */
async function broken(change: (html: string) => string, steps = STEPS, assertions = ASSERTIONS, path = "/") {
  html = FORM;
  const green = await talk.good("pw_run_test", { url: `${url}${path}`, steps, assertions, evidence: [] });
  expect(green.data["passed"], green.text).toBe(true);
  html = change(FORM);
  const red = await talk.good("pw_run_test", { url: `${url}${path}`, steps, assertions, evidence: [] });
  expect(red.data["passed"], red.text).toBe(false);
  return red.data["run_id"];
}

describe("pw_heal", () => {
  it.each(Object.entries(BREAKS))("%s", async (_, { change, steps, assertions }) => {
    const healed = await talk.good("pw_heal", { run_id: await broken(change, steps, assertions) });
    console.log(_, performance.now(), healed.text);
  });
});
