import type { Role } from "./ast.ts";
import type { NAMED } from "./elements.ts";

// The words that people use in place of the language's own, as data for the reader.

/** Phrases as a pattern, the longer ones first so that none hides another. */
const anyOf = (phrases: string): string =>
  phrases
    .split("|")
    .sort((a, b) => b.length - a.length)
    .map((one) => one.replace(/[.*+?^${}()[\]\\/]/g, "\\$&").replace(/ /g, "\\s+"))
    .join("|");

/** A sticky pattern for whole words in any letter case. */
export const words = (phrases: string): RegExp =>
  new RegExp(`(?:${anyOf(phrases)})(?![\\w-])`, "iy");

const IS =
  "is|are|be|was|were|to be|being|is being|are being|gets|becomes|become|has been|have been|got|is now|is still|is also|is currently|stays|remains|stay|remain|are now|are still|appears to be|seems to be";
const SHOULD = "should|must|shall|will|should now|should still|should also|should always";
const BE = `${IS}|${SHOULD.split("|")
  .flatMap((one) => [`${one} be`, `${one} have been`, `${one} become`])
  .join("|")}`;
const BE_NOT =
  "is not|isn't|are not|aren't|was not|wasn't|not be|not to be|to not be|is no longer|are no longer|is never|not|isnt|is n't|cannot be|can't be|no longer|" +
  SHOULD.split("|")
    .flatMap((one) => [`${one} not be`, `${one}n't be`, `${one} no longer be`])
    .join("|");
const DO_NOT = `does not|doesn't|do not|don't|did not|didn't|not|${SHOULD.split("|")
  .flatMap((one) => [`${one} not`, `${one}n't`])
  .join("|")}|cannot|can't|no longer`;
const modal = (verbs: string): string =>
  [
    verbs,
    ...verbs.split("|").flatMap((verb) => SHOULD.split("|").map((one) => `${one} ${verb}`)),
  ].join("|");

/** Other wordings of the words in forms, used wherever those are. */
const SPELLINGS: Readonly<Record<string, string>> = {
  has: "has|have|having|should have|must have|should now have|will have|shows|should show",
  in: "in|inside|within|inside of|on|of|from|under",
  into: "into|in|inside|to|on|as|for",
  contains: modal(
    "contains|contain|includes|include|has|have|shows|show|displays|display|presents|to have|to contain|to include|to show|to display",
  ),
  under:
    "under|below|less than|faster than|within|<|at most|no more than|lower than|is under|should be under|is below|is less than|should be below|should be less than|must be under",
  status:
    "status code|status|http status|response status|response status code|response code|http status code|http response status",
  with: "with|using",
  a11y: "a11y|accessibility",
  violations: "violations|issues|errors|problems|violation",
  localStorage:
    "localStorage|local storage|local storage item|localStorage item|local storage key|localStorage key",
  cookie: "cookie|cookies|cookie named|the cookie|a cookie|cookie called",
  dialog:
    "dialog|alert|popup|pop-up|prompt|confirm|confirmation|dialog box|alert box|confirmation dialog|js alert|confirm dialog|alert dialog|prompt dialog|browser dialog|popup dialog",
  tab: "tab|window|browser tab|browser window",
  message: "message|text",
  screenshot: "screenshot|a screenshot|the screenshot",
  network: "network|the network",
  not: DO_NOT,
  is: BE,
  there: `there is|there are|there exists|there was|there were|there will be|${SHOULD.split("|")
    .map((one) => `there ${one} be`)
    .join("|")}`,
  appears: modal(
    "appears|appear|shows up|show up|pops up|pop up|comes up|opens|loads|is rendered|becomes visible|to appear|to show|to be shown|to show up|come into view|slides in|shows|show|display|displays|be there|exist on the page",
  ),
  disappears: modal(
    "disappears|disappear|goes away|go away|vanishes|vanish|closes|close|to disappear|to go away|to vanish|to be hidden|hides|hide|fades out|is dismissed",
  ),
  page: "text on the screen|text on the page|the text on the screen|the text on the page|page|the page|screen|the screen|site|the site|website|the website|app|the app|application|the application|body|browser|the browser|it|this page|current page|the current page|page source|the page source|the page body",
  see: "see|sees|seeing|be able to see|be shown|be presented with|be displayed|see that there is|see that|can see|view|views|still see|now see|also see|see displayed|be able to view",
  number: "number|the number|total number|the total number|count|the count|amount",
  value: "value|the value|current value|the current value",
  text: "text|the text|text content|the text content|inner text|content|message|the message",
  from: "from|in|of",
  console: "console|the console|browser console|the browser console|javascript console|js console",
};

/** How a word of a form may be written. */
export function spellingOf(word: string, isVerb: boolean): RegExp {
  const spellings = SPELLINGS[word];
  if (spellings !== undefined) return words(spellings);
  const source = anyOf(word);
  if (!/\w$/.test(word)) return new RegExp(source, "iy");
  if (!isVerb) return words(word);
  // click: clicks, clicked, clicking; type: typing; verify: verifies; tap: tapped.
  const stem = word.replace(/e$/, "").replace(/y$/, "");
  const endings =
    word.endsWith("y") && !/[aeo]y$/.test(word)
      ? "y|ies|ied|ying"
      : `${word.slice(stem.length)}|e?s|e?d|ing|${word.slice(-1)}(?:ed|ing)`;
  return new RegExp(`${anyOf(stem)}(?:${endings})(?![\\w-])`, "iy");
}

/** A word of one of these lists, with what it means; the longer phrases come first. */
export function vocabulary<Meaning>(
  lists: Readonly<Record<string, Meaning>>,
  plural = "",
): [RegExp, Meaning][] {
  return Object.entries(lists)
    .flatMap(([phrases, meaning]) => phrases.split("|").map((phrase) => [phrase, meaning] as const))
    .sort(([a], [b]) => b.length - a.length)
    .map(([phrase, meaning]) => [
      new RegExp(`${anyOf(phrase)}${plural}${/[\w-]$/.test(phrase) ? "(?![\\w-])" : ""}`, "iy"),
      meaning,
    ]);
}

/** `is`, true for its negation. */
export const BEING = vocabulary<boolean>({ [BE]: false, [BE_NOT]: true });

export const NEGATION = words(DO_NOT);
export const MODAL = words(`${SHOULD}|should then|to`);

/** Verbs that compare a text. */
export const COMPARING = vocabulary<"is" | "contains" | "matches" | "starts" | "ends">({
  "displayed as|is displayed as|shown as|is shown as|equals|equal|equal to|equals to|is equal to|be equal to|is exactly|be exactly|has text|have text|has the text|have the text|reads|read|says|say|shows exactly|is the same as|be the same as|is set to|be set to|matches the text|match the text|matches text|has content|=|==|===":
    "is",
  "contains|contain|contains element with text|contains an element with text|contains the element with text|containing|includes|include|has text containing|contains text|contain text|contains the text|contain the text|contains the word|contains value|contain value|contains string|mentions|displays|display|shows|show|shows the text|displays the text":
    "contains",
  "matches|match|is like|matches pattern|match pattern|matches regex": "matches",
  "starts with|start with|begins with|begin with|starting with|is prefixed with": "starts",
  "ends with|end with|ending with|ends in": "ends",
});

/** Other words for the states of an element. */
export const STATE_WORDS = {
  visible:
    "visible|displayed|shown|present|displaying|showing|presented|visible to the user|displayed on the page|there|on the page|on screen|available|rendered|appearing|seen|found|listed|appeared|rendered|existing|presented",
  hidden: "hidden|invisible|gone|not there|dismissed|hidden from view|removed|absent",
  enabled: "enabled|enable|clickable|activated",
  disabled: "disabled|disable|greyed out|grayed out|deactivated|unclickable",
  checked: "checked|ticked|turned on|switched on|marked checked|marked as checked",
  unchecked: "unchecked|unticked|not ticked|turned off|switched off",
  editable: "editable|writable",
  readonly: "readonly|read-only|read only",
  focused: "focused|in focus|active element|the active element",
  empty: "empty|blank|cleared",
  "in viewport": "in viewport|in the viewport|within the viewport|in view",
  loaded: "loaded|fully loaded",
  selected:
    "selected|chosen|preselected|pre-selected|selected by default|current|the current one|highlighted",
  expanded: "expanded|unfolded",
  collapsed: "collapsed|folded",
  pressed: "pressed|toggled|toggled on",
  required: "required|mandatory|a required field|a mandatory field",
  invalid: "invalid|marked invalid|marked as invalid|in error|in an error state",
} as const;

/** Words for how many, before or without a number. */
export const COUNTING = vocabulary<">=" | "<=" | ">" | "<" | "=">({
  "at least|no less than|no fewer than|minimum|a minimum of|>=|≥|greater than or equal to": ">=",
  "at most|no more than|not more than|maximum|a maximum of|up to|<=|≤|less than or equal to": "<=",
  "more than|greater than|over|above|>|bigger than": ">",
  "less than|fewer than|under|below|<|smaller than": "<",
  "exactly|equals|equal to|equal|=|==|only": "=",
});
export const NUMBERS = vocabulary<number>(
  Object.fromEntries(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
      .split("|")
      .map((word, n) => [word, n]),
  ),
);

/** `first`, `2nd`, `third`. */
export const ORDINALS = vocabulary<"first" | "last" | number>({
  "first|1st": "first",
  "last|final|bottommost|last of the": "last",
  ...Object.fromEntries(
    "second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
      .split("|")
      .map((word, n) => [word, n + 2]),
  ),
});
export const NTH = /(?:nth\s+(\d+)|(\d+)(?:st|nd|rd|th))(?![\w-])\s*/iy;

/** Words before a name that add nothing: not before what follows a selector, since `a` is one. */
export const ARTICLE =
  /(?:(?:the|an|that|(?:my|your)(?=\s+['"“‘])|its|his|her|their|these|those|our|any|some)|(?:a|this)(?!\s+(?:is|are|has|have|in|exists?|does|contains?|matches|count|should|not|and|to|with|[^\w\s'"“‘])))\s+/iy;
/** People's nouns for the elements of a page. `part`: what is clicked by its name. `{name} noun`, `noun {name}`. */
export const NOUNS = vocabulary<
  Role | "field" | "search" | "text" | "part" | "placeholder" | "frame" | "element"
>(
  {
    "button|btn|push button": "button",
    "link|hyperlink|link text|anchor|anchor link|text link|nav link|nav item|navigation item|navigation link":
      "link",
    "heading|header|headline|title|section header|page heading|page header|section heading":
      "heading",
    "image|img|icon|logo|picture|photo|avatar|thumbnail": "img",
    "checkbox|check box|tickbox|check-box": "checkbox",
    "radio|radio button|radio option|radiobutton": "radio",
    "dropdown|drop-down|drop down|dropdown list|drop-down list|dropdown menu|drop-down menu|drop down menu|select box|combo box|combobox|select|dropdown field|select list|selectbox|select field|select menu|picklist":
      "combobox",
    "tab|tab button": "tab",
    "menu item|menuitem|menu option|menu entry": "menuitem",
    "menu|submenu|sub menu|sub-menu": "menu",
    "dialog|dialogue|modal|modal dialog|popup|pop-up|dialog box|modal window|popup window|dialog window|overlay":
      "dialog",
    "alert|alert box|alert message": "alert",
    "list|unordered list|ordered list": "list",
    "list item|listitem|item": "listitem",
    "row|table row": "row",
    "cell|table cell": "cell",
    "column|column header|columnheader": "columnheader",
    "table|data table|web table|html table|table element": "table",
    form: "form",
    "navigation|nav|nav bar|navbar|navigation bar|navigation menu": "navigation",
    region: "region",
    "section|panel|area|card|tile|block|widget|page|screen|webpage|web page|view": "part",
    "switch|toggle|toggle switch|toggle button": "switch",
    "slider|range slider": "slider",
    "progress bar|progressbar": "progressbar",
    "tooltip|tool tip": "tooltip",
    "option|dropdown option": "option",
    searchbox: "searchbox",
    "search bar|search box|search field|search input": "search",
    textbox: "textbox",
    "field|input|input field|input box|inputbox|text box|text field|text input|textfield|textarea|text area|box|inputfield|entry field|form field|edit box|date picker|datepicker|filter|text input field|input text|textbox field":
      "field",
    "text|message|notification|error|error message|success message|warning|label|word|string|toast|snackbar|banner|caption|phrase|validation message|flash message|confirmation message|status message|content|title text|paragraph|value|error text|warning message|info message|confirmation|description|chip|badge|tag|pill|headline text|sentence|information|details|button text|keyword|tab text|copy|hint|notice":
      "text",
    "placeholder|placeholder text": "placeholder",
    "iframe|frame": "frame",
    "css|css selector|selector|locator|element|css element|css_element|xpath|xpath_element|input element":
      "element",
  },
  "(?:e?s)?",
);
/** What a noun is, or one of the language's own words before a name. */
export type Noun = (typeof NOUNS)[number][1] | (typeof NAMED)[number];

/** Words between a noun and its name. */
export const NAMED_BY = words(
  "labeled|labelled|named|called|titled|entitled|with text|with the text|with label|with the label|with name|with the name|with the name of|with title|with the title|that says|saying|reading|with caption|stating|containing the text|containing the words|of|for|with message|with the message|that reads|marked|which says|that includes|which includes|that contains|including|with value|with placeholder|with the placeholder|with the words|matching|element|:|-",
);
/** `set the radio button to 'x'` */
export const BOX_BY = words(
  "labeled|labelled|named|called|with label|with the label|with value|with the value|for|to|:|-",
);
/** Words between an element and a text within it, or an attribute of it. */
export const CONTAINING = words(
  "containing|that contains|which contains|that has|containing text|containing the text|with text|with the text|having text|having",
);
export const ATTRIBUTED =
  /(?:with|having|whose)\s+(?:the\s+|an?\s+)?(id|class|name|href|src|css|css selector|selector|xpath|test\s?id|data-[\w-]+)(?:\s+(?:of|is|=))?\s+(?=['"“‘])/iy;
export const ATTRIBUTED_ELEMENT = new RegExp(`element\\s+(?=${ATTRIBUTED.source})`, "iy");
export const INSIDE =
  /(?:in|inside|inside of|within(?!\s+\d)|of|on|from|under|at)(?![\w-])\s*(?=\S)/iy;

/** Words after a sentence that add nothing: `on the page`, `again`. */
export const ENDING =
  /(?:(?:on|in)\s+(?:(?:the|this)\s+)?(?:page|screen)|please|again|now|too|also|then|[.!?;,:…]+)(?![\w-])\s*/iy;

/** Subjects, modal verbs and other words before a sentence, which add nothing. */
export const LEADS: readonly RegExp[] = [
  /(?:(?:[#*•▪●◦‣→✅✔☑✓]\uFE0F?)+|[-–—]\s|\[[ xX✓✔]?\]|\(?[a-z]\)|[a-z]\.(?=\s+\w+\s))\s*/y,
  /(?:the|an?)\s+/iy,
  /(?:is|are|am)\s+(?=\w+ing\b|click\b)/iy,
  /\(?(?:step\s*)?\d{1,3}[.):](?:\s+|(?=\p{L}))/iuy,
  /(?:given|when|then|and|but|so)\b:?(?:\s+that\b)?(?!\s*$)\s*/iy,
  /opens?\s+(?:the|a)\s+browser\s+and\s+/iy,
  /(?:step|scenario|test case|test|action|expected|expected results?|result|note|todo)\s*:\s*/iy,
  /(?::user|(?:the|a|an|that|this)\s+(?:user|visitor|customer|tester|admin|member|client|person|system|application|app|website|site|test|browser)|users?|i|we|you|he|she|they)(?:'m|'ll|'d|'ve)?(?=\s)\s+/iy,
  /(?:should|shall|must|can|could|will|would|may|need|needs|wants?|have|has|tr(?:y|ies)|attempts?|proceeds?|(?:am|is|are|be)\s+able|going|'d\s+like|would\s+like|(?:am|is|are)\s+going)(?:\s+(?:now|also|still|then|be\s+able))?\s+(?:to\s+)?(?!be\b|have\b|not\b)(?=\w)/iy,
  /(?:(?:first|next|lastly),|please|now|also|finally|simply|just|then|afterwards|again|immediately|once\s+more|manually|successfully|to|able\s+to|let's|let\s+us|the\s+browser\s+should|go\s+ahead\s+and)(?=[\s,]),?\s+(?=\S)/iy,
  /(?:is|are)\s+(?=(?:the|there|text|element)\b)/iy,
];
/** What assertions begin with. */
export const ASSURING =
  /(?:verif(?:y|ies)|checks?|asserts?|ensures?|makes?\s+sure|confirms?|validates?|expects?|tests?|sees?|double-check|it\s+should\s+be\s+that|be\s+sure|guarantees?)\b(?:\s+(?:that|if|whether|for|to\s+see\s+(?:that|if|whether)))?:?\s+(?:there\s+is\s+)?/iy;

/** Keys in people's words, as Playwright names them. */
export const KEYS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    Enter: "enter|return|enter key|carriage return",
    Escape: "escape|esc",
    Tab: "tab|tabulator",
    Space: "space|spacebar|space bar|blank",
    Backspace: "backspace|back space",
    Delete: "delete|del",
    Insert: "insert|ins",
    Home: "home",
    End: "end",
    PageUp: "pageup|page up|pgup|pg up",
    PageDown: "pagedown|page down|pgdn|pgdown|pg down",
    ArrowUp: "arrowup|arrow up|up arrow|up|uparrow",
    ArrowDown: "arrowdown|arrow down|down arrow|down|downarrow",
    ArrowLeft: "arrowleft|arrow left|left arrow|left|leftarrow",
    ArrowRight: "arrowright|arrow right|right arrow|right|rightarrow",
    Control: "control|ctrl|ctl|strg",
    Shift: "shift",
    Alt: "alt|option|opt",
    Meta: "meta|cmd|command|win|windows|super|⌘",
    ControlOrMeta: "controlormeta|ctrlorcmd|ctrl/cmd|cmd/ctrl|commandorcontrol",
  }).flatMap(([key, spellings]) => spellings.split("|").map((one) => [one, key])),
);

/** Units of time in milliseconds, and of size in bytes. */
export const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, msec: 1, msecs: 1, millisecond: 1, milliseconds: 1, millis: 1 },
  ...{ s: 1_000, sec: 1_000, secs: 1_000, second: 1_000, seconds: 1_000 },
  ...{ m: 60_000, min: 60_000, mins: 60_000, minute: 60_000, minutes: 60_000 },
};
export const SIZES: Readonly<Record<string, number>> = {
  ...{ b: 1, byte: 1, bytes: 1, kb: 1e3, kib: 1024, mb: 1e6, mib: 1024 * 1024 },
  ...{ kilobyte: 1e3, kilobytes: 1e3, megabyte: 1e6, megabytes: 1e6, k: 1e3 },
};
