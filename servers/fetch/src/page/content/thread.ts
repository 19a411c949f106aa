/** Discussions: the posts of a thread, without what a forum says about its members. */
import { outermost, type PageDocument, type PageElement, textOf } from "./document.ts";

/** What says that a page is a discussion, not an article with comments or frequent questions (schema.org). */
const DISCUSSION =
  "[itemtype$=DiscussionForumPosting], [itemtype$=DiscussionForum], [itemtype$=QAPage], [itemprop=suggestedAnswer], " +
  ".js-post-body";
/** The text of a post in schema.org's microdata. */
const MARKED = "[itemprop=text], [itemprop=articleBody]";
/** The same in the software of forums: XenForo, phpBB, vBulletin, Invision, Flarum, Lemmy, Lobsters and Hacker News. */
const POSTS = [
  ".message-body .bbWrapper",
  ".postbody .content",
  "[id^=post_message_]",
  "[data-role=commentContent]",
  ".Post-body",
  ".comment-content .md-div",
  ".comment_text",
  ".commtext",
];
/** In the order in which they are tried. */
const AUTHORS = [
  "[itemprop=author] [itemprop=name]",
  ".username, .bigusername, .ipsComment_author a, .PostUser-name, .hnuser, .creator, .user-details a",
  "[itemprop=author], [rel=author], .author, .person-listing, [data-user-card]",
];
const DATES = ["time, [itemprop=dateCreated]", ".postdate, .age, p.author a, .relativetime"];
/** Previews of links, and tools; a quote is an `aside` in Discourse. */
const NOT_SAID = "aside:not(.quote), nav, footer, form, button, .bbCodeBlock-expandLink";
/** A longer quote of an earlier post is cut. */
const MAX_QUOTE = 160;
const MAX_LABEL = 80;
/** With less text, the posts are not what the page is about. */
const LITTLE = 250;
const SHARE = 0.1;

/**
 * The posts of a forum's thread, each under its author and date, without what the forum says about its members. The posts
 * are known by their microdata or by the forum's software.
 *
 * @returns undefined if the page isn't a thread.
 */
export function threadIn(document: PageDocument): PageElement | undefined {
  const marked = document.querySelector(DISCUSSION) === null ? [] : postsIn(document, MARKED);
  // Most pages have none, which one search for all of them finds out.
  const isKnown = document.body.querySelector(POSTS.join(", ")) !== null;
  const known = isKnown ? POSTS.map((selector) => postsIn(document, selector)) : [];
  if (marked.length === 0 && !isKnown) return undefined;
  const posts = [marked, ...known].reduce((most, some) =>
    charsOf(some) > charsOf(most) ? some : most,
  );
  const chars = charsOf(posts);
  if (posts.length < (posts === marked ? 1 : 2) || chars < LITTLE) return undefined;
  if (chars < textOf(document.body).length * SHARE) return undefined;
  const thread = document.createElement("div");
  const title = document.querySelector("h1");
  if (title !== null && !posts.some((post) => post.contains(title)))
    thread.append(title.cloneNode(true));
  const heads: PageElement[] = [];
  let said = "";
  for (const post of posts) {
    const frame = frameOf(post, posts);
    const label = [AUTHORS, DATES].map((from) => labelIn(frame, post, from)).filter(Boolean);
    const line = document.createElement("strong");
    line.append(document.createTextNode(label.join(", ")));
    for (const element of [...post.querySelectorAll(NOT_SAID)]) element.remove();
    for (const quote of [...post.querySelectorAll("blockquote, aside.quote")]) {
      const text = [...quote.childNodes].map(textOf).filter(Boolean).join(" ");
      // Around it: who said it, and links to expand it.
      const middle = text.slice(text.length / 2 - 40, text.length / 2 + 40);
      if (text.length > MAX_QUOTE && said.includes(middle))
        quote.textContent = `${text.slice(0, MAX_QUOTE)} …`;
    }
    said += ` ${textOf(post)}`;
    const paragraph = document.createElement("p");
    paragraph.append(line);
    heads.push(paragraph);
  }
  for (const [index, post] of posts.entries())
    thread.append(document.createElement("hr"), heads[index] ?? "", post);
  return thread;
}

/** The outermost matches that have text. */
function postsIn(document: PageDocument, selector: string): PageElement[] {
  const matches = [...document.body.querySelectorAll(selector)];
  return outermost(matches.filter((element) => textOf(element) !== ""));
}

const charsOf = (posts: readonly PageElement[]): number =>
  posts.reduce((sum, post) => sum + textOf(post).length, 0);

/** The largest element around a post that has no other post. */
function frameOf(post: PageElement, posts: readonly PageElement[]): PageElement {
  let frame = post;
  const index = posts.indexOf(post);
  const others = [posts[index - 1], posts[index + 1]];
  for (
    let outer = post.parentElement;
    outer !== null && outer.tagName !== "BODY";
    outer = outer.parentElement
  ) {
    if (others.some((other) => other && outer.contains(other))) break;
    frame = outer;
  }
  return frame;
}

/** The first short text in a frame, not in its post, that matches one of the selectors. */
function labelIn(frame: PageElement, post: PageElement, selectors: readonly string[]): string {
  for (const selector of selectors)
    for (const element of frame.querySelectorAll(selector)) {
      const text = post.contains(element) ? "" : textOf(element);
      if (text !== "" && text.length <= MAX_LABEL) return text;
    }
  return "";
}
