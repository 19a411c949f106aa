import { workerFile } from "@refmcp/core/worker-file";
import { fakeCall } from "@refmcp/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { sized, someOf } from "../../../vitest.long.ts";
import { failureOf, fetched, newWebOf, run, site } from "./lab.ts";

/** HTML that hangs, overflows or blows up a DOM. */
const HOSTILE: Readonly<Record<string, string>> = {
  "50,000 nested divs": `${"<div>".repeat(50_000)}NEEDLE`,
  "50,000 nested divs that are closed": `${"<div>".repeat(50_000)}NEEDLE${"</div>".repeat(50_000)}`,
  "5,000 unclosed lists": `${"<ul><li>".repeat(5_000)}NEEDLE`,
  "100,000 unclosed bold": `${"<b>".repeat(100_000)}NEEDLE`,
  "nothing but <": `<p>NEEDLE</p>${"<".repeat(sized(1_000_000))}`,
  "nothing but [": `<p>NEEDLE</p>${"[".repeat(sized(1_000_000))}`,
  "nothing but <a ": `<p>NEEDLE</p>${"<a ".repeat(sized(348_000))}`,
  "nothing but <!--": `<p>NEEDLE</p>${"<!--".repeat(sized(250_000))}`,
  "thousands of attributes": `<p ${Array.from({ length: sized(200_000) }, (_, index) => `a${index}=1`).join(" ")}>NEEDLE</p>`,
  "an attribute of a megabyte": `<p title="${"x".repeat(1_000_000)}">NEEDLE</p>`,
  "many siblings": `<p>NEEDLE</p>${"<i>x</i>".repeat(sized(500_000))}`,
  "a table in a table, 3,000 times": `${"<table><tr><td>".repeat(3_000)}NEEDLE`,
  "a page of entities": `<p>NEEDLE ${"&amp;&#x41;&lt;".repeat(sized(100_000))}</p>`,
  "a heading of nothing but #": `<p>NEEDLE</p><h1>${"#".repeat(sized(1_000_000))}x</h1>`,
  "a heading of nothing but [": `<p>NEEDLE</p><h1>${"[".repeat(sized(1_000_000))}</h1>`,
  "a heading of nothing but blanks": `<pre>NEEDLE\n# ${" ".repeat(sized(1_000_000))}x</pre>`,
  "many headings and as many words": "<h2>NEEDLE</h2><p>here</p>".repeat(sized(20_000)),
  "nothing but <body ": `<p>NEEDLE</p>${"<body ".repeat(sized(168_000))}`,
  "an unclosed script": `<p>NEEDLE</p><script>${"x".repeat(1_000_000)}`,
};

// Bundled once for all tests of this file.
beforeAll(
  () => void workerFile("convert", new URL("../src/page/read/converter.ts", import.meta.url).href),
);

describe.each(someOf(3, Object.entries(HOSTILE)))("%s", (_what, html) => {
  it("is read in a separate process, searched and outlined in linear time, and the server stays responsive", async () => {
    const plain = { headers: { "content-type": "text/plain" }, body: "PLAIN" };
    const lab = await site({ "/": html, "/plain": plain, "/other": "<p>OTHER</p>" });
    const web = await newWebOf([lab]);
    const call = fakeCall({ budget: 900_000 });
    const [hostile, other] = await Promise.all([
      fetched(web, { url: `${lab.origin}/`, max_length: 900_000 }, call),
      fetched(web, { url: `${lab.origin}/plain` }),
    ]);
    expect(hostile.text).toContain("NEEDLE");
    expect(other.text).toContain("PLAIN");
    expect((await fetched(web, { url: `${lab.origin}/other` })).text).toContain("OTHER");
    // A pattern that backtracks over a megabyte would take hours and exceed the test's time limit.
    expect(await run(web, "fetch_find", { url: lab.origin, query: "needle" })).toHaveProperty(
      "places.0.text",
    );
    await run(web, "fetch", { url: lab.origin, format: "metadata" });
    await failureOf(run(web, "fetch", { url: lab.origin, section: "no such heading" }));
  });
});
