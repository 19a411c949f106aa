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
  const isDiscussion = document.querySelector(DISCUSSION) !== null;
  // Most pages have none, and one search for all selectors shows that.
  const isKnown = document.body.querySelector(POSTS.join(", ")) !== null;
  const marked = isDiscussion ? postsIn(document, MARKED) : [];
  const lists = isKnown ? POSTS.map((selector) => postsIn(document, selector)) : [];
  const posts = lists.reduce((most, some) => (charsOf(some) > charsOf(most) ? some : most), marked);
  const least = Math.max(LITTLE, textOf(document.body).length * SHARE);
  if (posts.length < (posts === marked ? 1 : 2) || charsOf(posts) < least) return undefined;
  const thread = document.createElement("div");
  const title = document.querySelector("h1");
  if (title !== null && !posts.some((post) => post.contains(title)))
    thread.append(title.cloneNode(true));
  // All of them first: a post that was moved is no longer next to its author.
  const heads = posts.map((post) => headOf(post, posts, document));
  for (const [index, post] of posts.entries()) {
    for (const element of [...post.querySelectorAll(NOT_SAID)]) element.remove();
    thread.append(document.createElement("hr"), heads[index] ?? "", post);
  }
  return thread;
}

/** A paragraph with the author and date of a post. */
function headOf(
  post: PageElement,
  posts: readonly PageElement[],
  document: PageDocument,
): PageElement {
  const frame = frameOf(post, posts);
  const labels = [AUTHORS, DATES].map((selectors) => labelIn(frame, post, selectors));
  const line = document.createElement("strong");
  line.textContent = labels.filter(Boolean).join(", ");
  const head = document.createElement("p");
  head.append(line);
  return head;
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
  const index = posts.indexOf(post);
  const neighbors = [posts[index - 1], posts[index + 1]];
  let frame = post;
  for (let at = post.parentElement; at !== null && at.tagName !== "BODY"; at = at.parentElement) {
    if (neighbors.some((neighbor) => neighbor && at?.contains(neighbor))) break;
    frame = at;
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
