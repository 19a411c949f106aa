import { expect, it } from "vitest";
import { page } from "../../test/lab.ts";
import { openedFirst, sharedSession, site } from "../../test/session.ts";

const talk = openedFirst(sharedSession);
const web = await site({
  "/": page(`<header><nav aria-label="Main"><a href="/x">Docs</a></nav></header>
    <main><h1>It's "quoted"</h1><h2>More</h2>
    <label>Email <input></label><button>Save</button><button>Save</button><button>Save as…</button>
    <button>Don't "go"</button></main><script>console.error("it hurts")</script>`),
});

/** The targets of an inspection; each must work in an assertion. */
async function worked(url: string, value: unknown): Promise<string[]> {
  const targets = Array.isArray(value) ? value.map(String) : [];
  const assertions = targets.map((target) => `${target} is visible`);
  const { data, text } = await talk.good("pw_run_test", { url, assertions });
  expect(data, text).toMatchObject({ passed: true });
  return targets;
}

it("pw_inspect_page returns targets that work unchanged in assertions", async () => {
  const { data, links } = await talk.good("pw_inspect_page", { url: web.url });
  expect(data).toMatchObject({
    status: 200,
    title: "Docs",
    snapshot: expect.stringMatching(/navigation "Main".*\n.*link "Docs"[\s\S]*"More" \[level=2\]/),
    console: ["error: it hurts"],
  });
  const targets = await worked(web.url, data.targets);
  expect(targets).toEqual(
    expect.arrayContaining(["link 'Docs'", "textbox 'Email'", "button 'Save as…'"]),
  );
  expect(targets.length).toBeGreaterThanOrEqual(8);
  expect(links.map(({ name }) => name)).toEqual(["home.png"]);
});

it("pw_inspect_page shows hidden characters as escapes, and offers no target with them", async () => {
  const words = "<h1>a\u202eb\u2066c\u{e0041}\u{e0042}</h1><button>Save\u{e0041}</button>";
  const hidden = await site({ "/": page(`${words}<button>Go</button>`) });
  const { data } = await talk.good("pw_inspect_page", { url: hidden.url });
  expect(data.snapshot).toContain("a\\u{202e}b\\u{2066}c\\u{e0041}\\u{e0042}");
  expect(data.targets).toEqual(["button 'Go'"]);
  expect(JSON.stringify(data)).not.toMatch(/[\u202e\u2066]|[\u{e0041}\u{e0042}]/u);
});

it("pw_inspect_page distinguishes equal elements by their surroundings, in frames too", async () => {
  const shop = await site({
    "/": page(`<ul><li>Lamp <button>Add</button></li><li>Chair <button>Add</button></li></ul>
        <iframe title="Payment" srcdoc="<button>Pay</button><button>Pay later</button>"></iframe>`),
  });
  const { data } = await talk.good("pw_inspect_page", { url: shop.url });
  const targets = await worked(shop.url, data.targets);
  expect(targets.filter((target) => target.startsWith("button"))).toEqual([
    "button in listitem containing 'Lamp Add'",
    "button in listitem containing 'Chair Add'",
    "button exactly 'Pay' in frame 'Payment'",
    "button 'Pay later' in frame 'Payment'",
  ]);
  expect(data.snapshot).toContain(`button "Add" → button in listitem containing 'Lamp Add'`);
});
