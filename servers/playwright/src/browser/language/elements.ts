import type { Role } from "./ast.ts";

/** The ARIA roles of Playwright (WAI-ARIA 1.2). */
export const ROLES: ReadonlySet<string> = new Set(
  (
    "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader " +
    "combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form " +
    "generic grid gridcell group heading img insertion link list listbox listitem log main marquee math meter " +
    "menu menubar menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation " +
    "progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider " +
    "spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer " +
    "toolbar tooltip tree treegrid treeitem"
  ).split(" "),
);
export const isRole = (word: string): word is Role => ROLES.has(word);

/** HTML and common SVG elements: any other bare word is a typo, not a selector. */
export const TAGS: ReadonlySet<string> = new Set(
  (
    "a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption center cite code " +
    "col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer " +
    "form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li main " +
    "map mark marquee math menu meta meter nav noscript object ol optgroup option output p param picture pre progress " +
    "q rp rt ruby s samp script search section select slot small source span strong style sub summary sup svg table " +
    "tbody td template textarea tfoot th thead time title tr track u ul var video wbr circle defs ellipse g line path " +
    "polygon polyline rect text tspan use"
  ).split(" "),
);
/** Elements whose names can stand before another one in a selector, and are not a part of a name. */
export const STRUCTURE =
  /^(?:body|div|ul|ol|li|dl|table|tbody|thead|tr|td|th|p|span|form|section|article|aside|fieldset|nav|main|header|footer|dialog|figure)$/;

/** Words that end a selector or a name without quotes. */
const STOPS =
  "(?:is|isn't|are|aren't|was|equals?|contain(?:s|ing)?|includes?|match(?:es)?|exists?|does|doesn't|do|not|has|have|count|in|inside|within|masking|with|to|into|onto|on|from|at|as|level|should|must|will|can|starts?|begins?|ends?|appears?|disappears?|shows?|displays?|loads?|becomes?|be|under|over|less|more|and|until|for|of|reads?|says?)(?![\\w-])";
export const STOP = new RegExp(`^${STOPS}`, "i");
export const NAMED = [
  "text",
  "label",
  "placeholder",
  "alt",
  "title",
  "testid",
  "element",
  "field",
  "frame",
] as const;
/** What no name without quotes begins with, and what none contains. */
export const NO_BEGINNING =
  /^\(?(?:\d{1,3}|[a-z])[.)]\s|^(?:local|session)\s?storage\b|^[-–—*(#•▪●◦‣→✅✔☑✓]+|^(?:selected|any|(?:first|last|second)(?!\s+name)|some|only|then|and|when|given|but|(?:brand\s+)?new\s+(?:browser\s+)?(?:tab|window)(?!\s+(?:button|link|icon))|verify|check|assert|ensure|that|if|there|each|every|all|both|no|not|i|we|you|user(?!\s*name)|it|leave|enter|click|see|or)\b/iu;
export const NO_NAME =
  /\b(?:to\s+be|into|is|are|was|should|must|will|contains?|has|have|does|displayed|visible)\b|\b(?:in|on|of|for|from|to|with|at|by|and|or)\s+(?:the|a|an)\b/i;
/** What no value without quotes begins with: it is not a text of the page. */
export const NO_VALUE =
  /^(?:the|an?|any|some|no|all|text|content|correct|valid|same|appears?|at|to|in|on|with|not)(?![\w-])/i;
