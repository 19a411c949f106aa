import { expect, it } from "vitest";
import { page } from "../../../test/lab.ts";
import { site } from "../../../test/session.ts";
import { makeTester } from "../../../test/testers.ts";

const lab = makeTester({ stepMs: 3_000 });
const { url } = await site({
  "/": page(`<main><h1>Orders</h1>
    <button aria-label="Close">×</button><button>Save draft</button><button>Save all</button>
    <button>Send</button><a href="#x">Help</a><label>Email <input></label><p>Plain words</p>
    <ul><li>A <input type="checkbox"></li><li>B</li></ul></main>
    <form aria-label="Pay"><button>Pay now</button></form>
    <iframe title="Card" srcdoc="<button>Confirm</button><input placeholder='Number'>"></iframe>
    <iframe srcdoc="<button>Nameless</button>"></iframe>`),
});

it.concurrent.each([
  ["click 'Clsoe'", "nothing matches 'Clsoe'; the nearest: button 'Close'"],
  ["fill 'Emial' with 'a'", "nothing matches 'Emial'; the nearest: textbox 'Email'"],
  [
    "click 'Confirm' in frame 'Crad'",
    "nothing matches 'Confirm' in frame 'Crad'; the nearest: button 'Confirm' in frame 'Card'",
  ],
  [
    "click link 'Help' in form 'Play'",
    "nothing matches link 'Help' in form 'Play': there is no form 'Play'",
  ],
])("a miss says what is there instead: %s", async (step, reason) => {
  const { failed_step } = await lab.run({ url, steps: [step] });
  expect(failed_step).toBe(`${step}: ${reason}`);
});
