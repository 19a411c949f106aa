import type { Worker } from "node:worker_threads";
import { workerFile } from "@refmcp/launch/worker-file";
import { fakeCall } from "@refmcp/testing";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { failureOf, fetched, run, site, webOf } from "./lab.ts";

/** HTML that hangs, overflows or blows up a DOM. */
const HOSTILE: Readonly<Record<string, string>> = {
  "50,000 nested divs": `${"<div>".repeat(50_000)}NEEDLE`,
  "50,000 nested divs that are closed": `${"<div>".repeat(50_000)}NEEDLE${"</div>".repeat(50_000)}`,
  "5,000 unclosed lists": `${"<ul><li>".repeat(5_000)}NEEDLE`,
  "100,000 unclosed bold": `${"<b>".repeat(100_000)}NEEDLE`,
  "a megabyte of <": `<p>NEEDLE</p>${"<".repeat(1_000_000)}`,
  "a megabyte of [": `<p>NEEDLE</p>${"[".repeat(1_000_000)}`,
  "a megabyte of <a ": `<p>NEEDLE</p>${"<a ".repeat(350_000)}`,
  "a megabyte of <!--": `<p>NEEDLE</p>${"<!--".repeat(250_000)}`,
  "200,000 attributes": `<p ${Array.from({ length: 200_000 }, (_, index) => `a${index}=1`).join(" ")}>NEEDLE</p>`,
  "an attribute of a megabyte": `<p title="${"x".repeat(1_000_000)}">NEEDLE</p>`,
  "500,000 siblings": `<p>NEEDLE</p>${"<i>x</i>".repeat(500_000)}`,
  "a table in a table, 3,000 times": `${"<table><tr><td>".repeat(3_000)}NEEDLE`,
  "a page of entities": `<p>NEEDLE ${"&amp;&#x41;&lt;".repeat(100_000)}</p>`,
  "a heading of a megabyte of #": `<p>NEEDLE</p><h1>${"#".repeat(1_000_000)}x</h1>`,
  "a heading of a megabyte of [": `<p>NEEDLE</p><h1>${"[".repeat(1_000_000)}</h1>`,
  "a heading of a megabyte of blanks": `<pre>NEEDLE\n# ${" ".repeat(1_000_000)}x</pre>`,
  "20,000 headings and as many words": "<h2>NEEDLE</h2><p>here</p>".repeat(20_000),
  "a megabyte of <body ": `<p>NEEDLE</p>${"<body ".repeat(170_000)}`,
  "an unclosed script": `<p>NEEDLE</p><script>${"x".repeat(1_000_000)}`,
};

// esbuild, which bundles the thread's code for tests, has its own thread.
beforeAll(
  () => void workerFile("convert", new URL("../src/page/read/converter.ts", import.meta.url).href),
);

describe.each(Object.entries(HOSTILE))("%s", (_what, html) => {
  it("is read in a separate thread, its text is returned, and the server stays responsive", async () => {
    const plain = { headers: { "content-type": "text/plain" }, body: "PLAIN" };
    const lab = await site({ "/": html, "/plain": plain, "/other": "<p>OTHER</p>" });
    const web = await webOf([lab]);
    const threads: Worker[] = [];
    const started = (thread: Worker) => threads.push(thread);
    process.on("worker", started);
    onTestFinished(() => void process.off("worker", started));
    const call = fakeCall({ budget: 900_000 });
    const [hostile, other] = await Promise.all([
      fetched(web, { url: `${lab.origin}/`, max_length: 900_000 }, call),
      fetched(web, { url: `${lab.origin}/plain` }),
    ]);
    expect(hostile.text).toContain("NEEDLE");
    expect(other.text).toContain("PLAIN");
    // Plain text needs no conversion.
    expect(threads).toHaveLength(1);
    expect((await fetched(web, { url: `${lab.origin}/other` })).text).toContain("OTHER");
  });

  it("is searched and outlined in linear time", async () => {
    const lab = await site({ "/": html });
    const web = await webOf([lab]);
    await fetched(web, { url: lab.origin });
    // A pattern that backtracks over a megabyte would take hours and exceed the test's time limit.
    expect(await run(web, "fetch_find", { url: lab.origin, query: "needle" })).toHaveProperty(
      "places.0.text",
    );
    await run(web, "fetch", { url: lab.origin, format: "metadata" });
    await failureOf(run(web, "fetch", { url: lab.origin, section: "no such heading" }));
  });
});
