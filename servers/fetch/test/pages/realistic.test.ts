import { describe, expect, it } from "vitest";
import { fetched, site, webOf } from "../lab.ts";
import { realisticPages } from "./realistic.ts";

describe.each(realisticPages)("$name", ({ html, keeps, drops, title }) => {
  it("is read with all its main content and without boilerplate", async () => {
    const lab = await site({ "/": html });
    const { text, foot } = await fetched(await webOf([lab]), {
      url: lab.origin,
      max_length: 900_000,
    });
    let at = 0;
    for (const kept of keeps) {
      const found = text.indexOf(kept, at);
      expect(found, `${kept} after character ${at} of:\n${text}`).toBeGreaterThanOrEqual(0);
      at = found;
    }
    for (const dropped of drops) expect(text).not.toContain(dropped);
    expect(text).toContain(`[${JSON.stringify(title)} | text/html | `);
    expect(foot).toContain("All ");
  });
});
