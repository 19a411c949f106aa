import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { makeTester, type TestTester } from "../../../test/testers.ts";
import { Secrets } from "../secrets/secrets.ts";

let lab: TestTester;
let url: string;
beforeAll(async () => {
  // Hints are left out where a secret of the run could be in a name.
  lab = await makeTester({ stepMs: 3_000, secrets: new Secrets([]) });
  url = (
    await site({
      "/": page(`<main><h1>Orders</h1>
        <button aria-label="Close">×</button><button>Save draft</button><button>Save all</button>
        <button>Send</button><a href="#x">Help</a><label>Email <input></label><p>Plain words</p>
        <ul><li>A <input type="checkbox"></li><li>B</li></ul></main>
        <form aria-label="Pay"><button>Pay now</button></form>
        <iframe title="Card" srcdoc="<button>Confirm</button><input placeholder='Number'>"></iframe>
        <iframe srcdoc="<button>Nameless</button>"></iframe>`),
      "/none": page("<h1>None</h1>"),
    })
  ).url;
});
afterAll(() => lab.close());

describe("a miss says what is there instead", () => {
  it.concurrent.each([
    [
      "click button 'Sav draft'",
      "nothing matches button 'Sav draft'; the nearest: button 'Save draft', button 'Save all', button 'Close'",
    ],
    [
      "click link 'Close'",
      "nothing matches link 'Close'; there is button 'Close'; the nearest: link 'Help'",
    ],
    ["click 'Clsoe'", "nothing matches 'Clsoe'; the nearest: button 'Close'"],
    ["fill 'Emial' with 'a'", "nothing matches 'Emial'; the nearest: textbox 'Email'"],
    [
      "type 'a' into field 'Postal code'",
      "nothing matches field 'Postal code'; the nearest: textbox 'Email'",
    ],
    ["fill label 'Plain' with 'a'", "nothing matches label 'Plain'; there is text 'Plain'"],
    [
      "check checkbox in listitem 'A'",
      "nothing matches checkbox in listitem 'A': there is no listitem 'A'; write listitem containing 'A'",
    ],
    [
      "click button 'Confirm'",
      "nothing matches button 'Confirm'; there is button 'Confirm' in frame 'Card'; the nearest: button 'Close', button 'Save draft', button 'Save all'",
    ],
    ["fill 'Number' with '1'", "nothing matches 'Number'; there is 'Number' in frame 'Card'"],
    [
      "click 'Confirm' in frame 'Crad'",
      "nothing matches 'Confirm' in frame 'Crad': there is no frame 'Crad'; the page has frame 'Card'",
    ],
    ["click `.none`", "nothing matches .none"],
    ["click nth 9 li", "nothing matches nth 9 li: li matches 2 elements"],
    ["click li containing 'C'", "nothing matches li containing 'C': li exists, without this text"],
    [
      "click button 'Send' in form 'Pay'",
      "nothing matches button 'Send' in form 'Pay': form 'Pay' exists, the rest is elsewhere; the nearest: button 'Pay now'",
    ],
  ])("%s", async (step, reason) => {
    const { failed_step } = await lab.run({ url, steps: [step] });
    expect(failed_step).toBe(`${step}: ${reason}`);
  });

  it("finds a button by its accessible name, and names no frame if none has the target", async () => {
    const { failed_step } = await lab.run({ url, steps: ["click 'Close'", "click 'Nameles'"] });
    expect(failed_step).toBe("click 'Nameles': nothing matches 'Nameles'");
    const { assertions } = await lab.run({
      url,
      assertions: ["button 'Clsoe' is visible within 300ms"],
    });
    expect(assertions[0]?.actual).toContain("the nearest: button 'Close'");
  });

  it("names nothing of the page once a secret was written", async () => {
    const holder = await makeTester({ stepMs: 5_000 });
    const steps = ["fill 'Email' with secret 'PASSWORD'", "click button 'Sav draft'"];
    const { failed_step } = await holder.run({ url, steps }).finally(() => holder.close());
    expect(failed_step).toBe("click button 'Sav draft': nothing matches button 'Sav draft'");
  });
});
