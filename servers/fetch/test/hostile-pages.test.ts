import { fakeCall } from "@refmcp/core/testing";
import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";

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
  "an unclosed script": `<p>NEEDLE</p><script>${"x".repeat(1_000_000)}`,
};

describe.each(Object.entries(HOSTILE))("%s", (_what, html) => {
  it("is read in its time, its text is there, and the server goes on meanwhile", async () => {
    const lab = await site({ "/": html, "/other": "<p>OTHER</p>" });
    const web = await webOf([lab]);
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 5);
    const began = performance.now();
    const { text } = await fetched(
      web,
      { url: `${lab.origin}/`, max_length: 900_000 },
      fakeCall({ budget: 900_000 }),
    ).finally(() => clearInterval(ticking));
    const took = performance.now() - began;
    expect(text).toContain("NEEDLE");
    // The event loop turned at least once in a fifth of a second all the while: conversions are elsewhere.
    expect(turns).toBeGreaterThanOrEqual(Math.floor(took / 200));
    expect((await fetched(web, { url: `${lab.origin}/other` })).text).toContain("OTHER");
  });
});
