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

/** Words that end a selector. */
const STOPS =
  "(?:is|contains|containing|matches|exists|does|not|has|count|in|within|masking|with|to|into|on|at|level|under|and)(?![\\w-])";
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
