import { expect, it } from "vitest";
import { picture, twoPagePdf } from "../../test/files.ts";
import { type Answer, failureOf, fetched, run, site, texts, webOf } from "../../test/lab.ts";

const PAGE = `<html lang="en"><head><title>Bread</title><meta name="date" content="2026-05-01"></head><body>
<h1>Bread</h1><p>Flour and <a href="/water?b=1">water</a>.</p><h2>Dough</h2><p id="d">Mix it &amp; wait.</p><h2>Oven</h2><p>Bake.</p></body></html>`;

it("returns Markdown with the official first line, and the continuation in a separate block", async () => {
  const lab = await site({ "/bread": PAGE });
  const web = await webOf([lab]);
  const { text, foot } = await fetched(web, { url: `${lab.origin}/bread#dough` });
  expect(text).toBe(
    `Contents of ${lab.origin}/bread:\n["Bread" | text/html | published 2026-05-01 | whole page | nothing readable has the id "dough", so this is the whole page]\n\n` +
      `# Bread\n\nFlour and [water](${lab.origin}/water?b=1).\n\n## Dough\n\nMix it & wait.\n\n## Oven\n\nBake.`,
  );
  expect(foot).toMatch(/^\[All \d+ characters\. Kept as fetch:\/\/snapshot\/[0-9a-f]{12}\]$/);
});

it("returns a piece, the exact next index, and the rest from the same download", async () => {
  const lab = await site({ "/": PAGE });
  const web = await webOf([lab]);
  const first = await fetched(web, { url: `${lab.origin}/`, max_length: 30 });
  expect(first.text.endsWith("# Bread\n\nFlour and [water](htt")).toBe(true);
  expect(first.foot).toContain("Characters 0 to 30 of ");
  expect(first.foot).toContain("Content truncated: call fetch with start_index=30 to get more.");
  lab.pages["/"] = "<p>Something else by now.</p>";
  const second = await fetched(web, { url: `${lab.origin}/`, start_index: 30 });
  expect(second.text).toContain(`Contents of ${lab.origin}/:\np://`);
  expect(lab.asked).toEqual(["/"]);
  const past = await failureOf(run(web, "fetch", { url: `${lab.origin}/`, start_index: 5_000 }));
  expect(past).toMatchObject({
    kind: "invalid",
    message: expect.stringContaining("No more content"),
  });
  const again = await fetched(web, { url: `${lab.origin}/`, max_age: 0 });
  expect(again.text).toContain("Something else by now.");
});

it("narrows to a selector or a section, and omits links", async () => {
  const lab = await site({ "/": PAGE });
  const web = await webOf([lab]);
  const of = async (args: object) => (await fetched(web, { url: `${lab.origin}/`, ...args })).text;
  expect(await of({ selector: "#d" })).toMatch(/selected elements\]\n\nMix it & wait\.$/);
  expect(await of({ section: "dough" })).toMatch(/\n\n## Dough\n\nMix it & wait\.$/);
  expect(await of({ include_links: false })).toContain("Flour and water.");
  expect(await failureOf(run(web, "fetch", { url: lab.origin, selector: ".none" }))).toMatchObject({
    kind: "not_found",
    message: expect.stringContaining('The selector ".none" matches nothing'),
  });
  expect(await failureOf(run(web, "fetch", { url: lab.origin, section: "Butter" }))).toMatchObject({
    kind: "not_found",
    hint: 'Its headings: "Bread", "Dough", "Oven". For an element with an id, add #id to the URL.',
  });
  expect(await failureOf(run(web, "fetch", { url: lab.origin, selector: "p[" }))).toMatchObject({
    kind: "invalid",
    message: expect.stringContaining("p["),
  });
});

it("returns all metadata without the page, with correct outline indexes", async () => {
  const lab = await site({ "/old": { status: 301, headers: { location: "/new" } }, "/new": PAGE });
  const web = await webOf([lab]);
  const [json = ""] = texts(
    await run(web, "fetch", { url: `${lab.origin}/old`, format: "metadata" }),
  );
  const facts = JSON.parse(json);
  expect(facts).toMatchObject({
    url: `${lab.origin}/new`,
    redirected_from: [`${lab.origin}/old`],
    status: 200,
    mime_type: "text/html",
    charset: "utf-8",
    title: "Bread",
    published: "2026-05-01",
    language: "en",
  });
  expect(facts.outline.map(({ title }: { title: string }) => title)).toEqual([
    "Bread",
    "Dough",
    "Oven",
  ]);
  const { text } = await fetched(web, {
    url: `${lab.origin}/new`,
    start_index: facts.outline[1].index,
  });
  expect(text).toMatch(/:\n## Dough\n\nMix it/);
});

it("shows images, describes other files, and reads PDFs", async () => {
  const lab = await site({
    "/a.png": { headers: { "content-type": "text/html" }, body: picture },
    "/a.bin": {
      headers: { "content-type": "application/octet-stream" },
      body: Buffer.from([0, 1, 2, 3]),
    },
    "/a.pdf": { headers: { "content-type": "application/pdf" }, body: twoPagePdf },
    "/broken.pdf": {
      headers: { "content-type": "application/pdf" },
      body: twoPagePdf.subarray(0, 60),
    },
  });
  const web = await webOf([lab]);
  expect(await run(web, "fetch", { url: `${lab.origin}/a.png` })).toMatchObject([
    { type: "image", mimeType: "image/png", data: picture.toString("base64") },
    { type: "text", text: expect.stringMatching(/Kept as fetch:\/\/snapshot\/[0-9a-f]{12}\]/) },
  ]);
  expect(await run(web, "fetch", { url: `${lab.origin}/a.bin` })).toMatchObject([
    { type: "resource_link", name: "a.bin", mimeType: "application/octet-stream", size: 4 },
    { type: "text", text: expect.stringContaining("has no text: application/octet-stream, 4 B") },
  ]);
  const { text } = await fetched(web, { url: `${lab.origin}/a.pdf` });
  expect(text).toContain(
    "application/pdf | 2 pages | text of the PDF]\n\nThe first page\n\nThe second page",
  );
  expect(await failureOf(run(web, "fetch", { url: `${lab.origin}/broken.pdf` }))).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("The PDF could not be read as text"),
  });
});

it.each<[Answer | undefined, object]>([
  [undefined, { kind: "not_found", message: expect.stringContaining("status 404") }],
  [
    { status: 410, body: "<h1>Gone</h1><p>It was here until 2020.</p>" },
    {
      kind: "not_found",
      message: expect.stringContaining('Message: "# Gone It was here until 2020."'),
    },
  ],
  [
    { status: 429, headers: { "retry-after": "120" } },
    { kind: "unavailable", hint: "Try again after 120 s." },
  ],
  [
    { status: 503, body: "<p>Back soon.</p>" },
    { kind: "unavailable", hint: "Try again later." },
  ],
  [{ status: 401 }, { kind: "denied", message: expect.stringContaining("login required") }],
])("reports a failing site's message, and when to retry: %o", async (answer, expected) => {
  const lab = await site(answer === undefined ? {} : { "/": answer });
  expect(await failureOf(run(await webOf([lab]), "fetch", { url: lab.origin }))).toMatchObject(
    expected,
  );
});

it("explains how to see a page that needs JavaScript", async () => {
  const app = `<html><head><title>App</title></head><body><div id="root"></div><script>${"x();".repeat(300)}</script></body></html>`;
  const lab = await site({ "/": app });
  const { text } = await fetched(await webOf([lab]), { url: lab.origin });
  expect(text).toContain("needs_javascript: almost no text without a browser; use pw_inspect_page");
});
