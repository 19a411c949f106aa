import { expect, it } from "vitest";
import { launch } from "../src/browser/driver/launch.ts";
import { page } from "./lab.ts";
import { site } from "./session.ts";
import { launchOptions, makeTester } from "./testers.ts";

const form = page(`<h1>Good</h1><label>Name <input></label><button>Save</button><script>
  document.querySelector("button").onclick = () => {
    document.querySelector("h1").textContent = "Hello " + document.querySelector("input").value;
    setTimeout(() => { throw new Error("too late"); }, 30);
  };</script>`);

it.for(["chromium", "firefox", "webkit"] as const)(
  "%s performs steps, judges checks and takes a screenshot",
  async (browser, { skip }) => {
    const launched = await launch(launchOptions({ browser })).catch((error: unknown) =>
      String(error),
    );
    if (typeof launched === "string") {
      // CI installs both, so there it must not be skipped.
      if (process.env.REFMCP_TEST_ENGINES !== undefined) throw new Error(launched);
      return skip(`needs Playwright's build of ${browser}`);
    }
    const lab = makeTester({ launch: () => Promise.resolve(launched) });
    const { url } = await site({ "/": form });
    const report = await lab.run({
      url,
      devices: ["iPhone 15"],
      steps: ["fill label 'Name' with 'Ada'", "click button 'Save'"],
      assertions: [
        "h1 is 'Hello Ada'",
        "h1 is 'Good' within 100ms",
        "no page errors",
        "status is 200",
      ],
      evidence: ["screenshot"],
    });
    expect(report.failed_step).toBeUndefined();
    expect(report.assertions.map(({ passed }) => passed)).toEqual([true, false, false, true]);
    expect(report.artifacts?.map(({ name }) => name)).toEqual(["home.png"]);
  },
);
