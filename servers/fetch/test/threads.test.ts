import { expect, it } from "vitest";
import { fetched, site, webOf } from "./lab.ts";
import { framed, prose } from "./pages/write.ts";

const POSTS = ["Ada", "Ben", "Cem", "Dora"].map((author, index) => ({
  author,
  date: `${index + 3} May 2026`,
  text: `Post ${index}. ${prose(index === 0 ? 6 : 2, index)}`,
}));
const QUOTED = POSTS[0]?.text ?? "";

/** A thread by XenForo, with microdata: what surrounds a post is longer than many posts. */
const THREAD = `<div itemscope itemtype="https://schema.org/DiscussionForumPosting">${POSTS.map(
  ({ author, date, text }, index) => {
    const quote = `<blockquote><a href="#p0">Ada said:</a><p>${QUOTED}</p></blockquote>`;
    return `<article class="message" itemscope itemtype="https://schema.org/Comment">
      <div class="message-user"><a class="username" href="/members/${author}">${author}</a>
        <h5>Senior member</h5><dl><dt>Joined</dt><dd>MEMBER-NOISE</dd><dt>Messages</dt><dd>1,203</dd></dl></div>
      <ul><li><a href="#p${index}"><time>${date}</time></a></li><li><a href="#share">Share</a></li><li>#${index}</li></ul>
      <div class="message-body"><div itemprop="text"><div class="bbWrapper">${index === 2 ? quote : ""}<p>${text}</p></div></div></div></article>`;
  },
).join("")}</div>`;

async function read(body: string): Promise<string> {
  const lab = await site({ "/page": framed("The mill", `<h1>Which mill?</h1>${body}`) });
  return (await fetched(await webOf([lab]), { url: `${lab.origin}/page`, max_length: 100_000 }))
    .text;
}

it("a thread has its title and every post under its author and date, and nothing about the members", async () => {
  const text = await read(THREAD);
  expect(text).toContain("# Which mill?");
  for (const { author, date, text: said } of POSTS) {
    const at = text.indexOf(`**${author}, ${date}**`);
    expect(at).toBeGreaterThan(-1);
    expect(text.slice(at)).toContain(said.slice(0, 60));
  }
  expect(text).not.toMatch(/MEMBER-NOISE|Senior member|RELATED-ONE/);
});

it.each([
  [
    "an article with comments",
    `<p>${prose(12, 1)}</p>${POSTS.map(({ text }) => `<div itemscope itemtype="https://schema.org/Comment"><p itemprop="text">${text}</p></div>`).join("")}`,
  ],
  [
    "frequent questions",
    `<p>${prose(12, 1)}</p>${POSTS.map(({ text }) => `<div itemprop="mainEntity" itemscope itemtype="https://schema.org/Question"><h3>Why?</h3><div itemprop="acceptedAnswer" itemscope itemtype="https://schema.org/Answer"><p itemprop="text">${text}</p></div></div>`).join("")}`,
  ],
])("%s are not read as a thread", async (_name, body) => {
  expect(await read(body)).toContain(prose(12, 1).slice(-80));
});
