/** A step (with the steps that it needs), an assertion that then passes, and a version that fails. */
export interface StepForm {
  readonly steps: readonly string[];
  /** An assertion that passes afterwards. */
  readonly effect: string;
  /** Steps of the same form that fail on a fresh page; undefined: only the parser can refuse it. */
  readonly fails?: readonly string[];
  /** Part of the answer's message. */
  readonly reason?: string;
  /** The start page of the failing steps. */
  readonly at?: string;
}

/** A placeholder for the path of an uploadable file. */
export const FILE = "FILE";

/** Steps for the page's environment, in an order in which all work one after the other. */
export const AROUND: readonly StepForm[] = [
  {
    steps: [
      "time zone 'Pacific/Auckland'",
      "locale 'de-DE'",
      "geolocation 52.5, 13.4",
      "grant permission 'notifications'",
      "clock at '2026-12-24T18:00:00Z'",
      "mock GET /api/users with 200 'nobody'",
      "throttle cpu 1.5x",
      "throttle network to fast 4g",
    ],
    effect: "#zone is 'Pacific/Auckland de-DE'",
  },
  { steps: ["click button 'Users'"], effect: "#log contains 'users nobody;'" },
  { steps: ["click button 'Where'"], effect: "#log contains 'at 52.5;'" },
  { steps: ["fast forward 5m", "fast forward 5m"], effect: "h1 is visible" },
  { steps: ["click button 'Time'"], effect: "#log contains 'time 2026-12-24T18;'" },
  {
    steps: ["block /api/users", "offline", "online", "click button 'Users'"],
    effect: "#log contains 'users failed;'",
  },
  { steps: ["save state 'visitor'", "use state 'visitor'"], effect: "h1 is visible" },
  {
    steps: ["click button 'Open'", "switch to new tab"],
    effect: "h1 is 'The docs'",
    fails: ["switch to new tab"],
    reason: "switch to new tab: ",
  },
  {
    steps: ["switch to tab 1"],
    effect: "h1 contains 'guides'",
    fails: ["switch to tab 4"],
    reason: "switch to tab 4: ",
  },
  {
    steps: ["switch to tab 2", "close tab"],
    effect: "h1 contains 'guides'",
    fails: ["close tab"],
    reason: "close tab: it is the only tab",
  },
  {
    steps: ["type 'abc' into #none"],
    effect: "#none has value 'abc'",
    fails: ["type 'abc' into h6"],
    reason: "nothing matches h6",
  },
];

/** The other steps, also in a working order. */
export const STEPS: readonly StepForm[] = [
  {
    steps: ["click button 'Inner' in frame 'Inner'"],
    effect: "button in frame 'Inner' is 'Pressed'",
    fails: ["click link"],
    reason: "click link: link matches 2 elements. Choose one: link 'Docs' (<a ",
  },
  {
    steps: ["click button 'Save'"],
    effect: "#log contains 'click;'",
    fails: ["click button 'Sve'"],
    reason: "click button 'Sve': nothing matches button 'Sve'",
  },
  {
    steps: ["double click testid 'save'"],
    effect: "#log contains 'double;'",
    fails: ["double click button 'Send'"],
    reason: "double click button 'Send': ",
  },
  {
    steps: ["right click button 'Save'"],
    effect: "#log contains 'right;'",
    fails: ["right click #ghost"],
    reason: "right click #ghost: ",
  },
  {
    steps: ["fill label 'Email' with 'bob@example.com'"],
    effect: "'Email' has value 'bob@example.com'",
    fails: ["fill h1 with 'x'"],
    reason: "Element is not an <input>",
  },
  {
    steps: ["fill 'Password' with secret 'PASSWORD'"],
    effect: "#log contains 'length 14;'",
    fails: ["fill button 'Save' with secret 'PASSWORD'"],
    reason: "Element is not an <input>",
  },
  {
    steps: ["clear placeholder 'you@example.com'"],
    effect: "'Email' is empty",
    fails: ["clear h1"],
    reason: "Element is not an <input>",
  },
  {
    steps: ["focus 'None'"],
    effect: "#none is focused",
    fails: ["focus 'Nobody'"],
    reason: "nothing matches 'Nobody'",
  },
  { steps: ["type 'hello'"], effect: "#none has value 'hello'" },
  { steps: ["press Control+A", "press Delete"], effect: "#none is empty" },
  {
    steps: ["press Enter on 'Email'"],
    effect: "#log contains 'sent;'",
    fails: ["press Enter on 'Mail address'"],
    reason: "nothing matches 'Mail address'",
  },
  {
    steps: ["uncheck 'I agree'"],
    effect: "#agree is unchecked",
    fails: ["uncheck label 'Radio'"],
    reason: "uncheck label 'Radio': ",
  },
  {
    steps: ["check 'I agree'"],
    effect: "#agree is checked",
    fails: ["check h1"],
    reason: "Not a checkbox or radio button",
  },
  {
    steps: ["select 'Red' in label 'Color'"],
    effect: "#log contains 'color Red;'",
    fails: ["select 'Red' in h1"],
    reason: "Element is not a <select> element",
  },
  {
    steps: ["select 'Fig' and 'Kiwi' from label 'Fruit'"],
    effect: "#log contains 'fruit 2;'",
    fails: ["select 'Fig', 'Kiwi' in label 'Email'"],
    reason: "Element is not a <select> element",
  },
  {
    steps: [`upload '${FILE}' to label 'File'`],
    effect: "#log contains 'file notes.txt;'",
    fails: [`upload '${FILE}' to h1`],
    reason: "Node is not an HTMLInputElement",
  },
  {
    steps: ["hover nav"],
    effect: "#tip is visible",
    fails: ["hover .none"],
    reason: "nothing matches .none",
  },
  {
    steps: ["drag #card to #done"],
    effect: "#log contains 'dropped;'",
    fails: ["drag #nocard to #done"],
    reason: "nothing matches #nocard",
  },
  {
    steps: ["accept dialog with 'Ada'", "click button 'Ask'"],
    effect: "#log contains 'name Ada;'",
    fails: ["click button 'Ask'", "expect #log contains 'name Ada;' within 20ms"],
    reason: "name null;",
  },
  {
    steps: ["accept dialog", "click button 'Sure'"],
    effect: "#log contains 'sure true;'",
    fails: ["click button 'Sure'", "expect #log contains 'sure true;' within 20ms"],
    reason: "sure false;",
  },
  {
    steps: ["dismiss dialog", "click button 'Sure'"],
    effect: "#log contains 'sure false;'",
    fails: ["dismiss dialog", "click button 'Sure'", "expect #log contains 'sure true;' within 20ms"],
    reason: "sure false;",
  },
  {
    steps: ["scroll to footer"],
    effect: "footer is in viewport",
    fails: ["scroll to .nowhere"],
    reason: "nothing matches .nowhere",
  },
  { steps: ["scroll to top"], effect: "footer is not in viewport" },
  { steps: ["scroll bottom"], effect: "footer is in viewport" },
  { steps: ["viewport 390x844"], effect: "#size is '390x844'" },
  {
    steps: ["screenshot", "screenshot 'menu' of nav"],
    effect: "nav is visible",
    fails: ["screenshot 'menu' of .nomenu"],
    reason: "nothing matches",
  },
  {
    steps: ["expect h1 contains 'Docs'"],
    effect: "h1 is visible",
    fails: ["expect h1 contains 'x' within 20ms"],
    reason: 'its text is "Docs & guides"',
  },
  { steps: ["wait for 10ms", "wait 0.01s"], effect: "h1 is visible" },
  {
    steps: ["wait for h1"],
    effect: "h1 is visible",
    fails: ["wait for not h1 exists within 20ms"],
    reason: "1 element matches",
  },
  {
    steps: ["wait for #late contains 'here'"],
    effect: "#late is 'here now'",
    fails: ["wait for #late contains 'there' within 20ms"],
    reason: "its text is",
  },
  {
    steps: ["wait for load", "wait for network idle"],
    effect: "h1 is visible",
    at: "/?busy",
    fails: ["wait for network idle"],
    reason: "wait for network idle: ",
  },
  {
    steps: ["reload"],
    effect: "#loads is 'loaded 2'",
    at: "/once?reload",
    fails: ["reload"],
    reason: "net::ERR_EMPTY_RESPONSE",
  },
  {
    steps: ["goto /next"],
    effect: "url contains '/next'",
    at: "/next",
    fails: ["goto /once?goto", "goto /once?goto"],
    reason: "net::ERR_EMPTY_RESPONSE",
  },
  {
    steps: ["go back"],
    effect: "#loads is 'loaded 3'",
    fails: ["go back", "go back"],
    reason: "there is no page to go back to",
  },
  {
    steps: ["go forward"],
    effect: "url contains '/next'",
    fails: ["go forward"],
    reason: "there is no page to go forward to",
  },
  { steps: ["open '/docs'"], effect: "h1 is 'The docs'" },
];

/** Steps with a mistake at ‸, and what is expected there. */
export const MALFORMED_STEPS: readonly (readonly [marked: string, expected: string])[] = [
  ["‸", "a step"],
  ["‸clik 'x'", "did you mean click?"],
  ["click ‸", "a target"],
  ["click button 'a' ‸twice", "the end of the step"],
  ["double click ‸", "a target"],
  ["right click ‸", "a target"],
  ["goto ‸", "a URL, or a path"],
  ["goto ‸file:///etc/passwd", "file: is not allowed"],
  ["open ‸javascript:alert(1)", "javascript: is not allowed"],
  ["fill 'x' ‸'y'", "with and a text in quotes"],
  ["fill 'x' with ‸", "a text in quotes, or secret and its name"],
  ["fill 'x' with secret ‸'a-b'", "letters, digits and _"],
  ["type ‸", "a text in quotes, or secret and its name"],
  ["press ‸Retrun", "a key such as Enter"],
  ["press Enter on ‸", "a target"],
  ["check ‸", "a target"],
  ["uncheck ‸", "a target"],
  ["select ‸", "a text in quotes"],
  ["select 'a' ‸select", "in and a field"],
  ["upload ‸", "a text in quotes"],
  ["upload 'notes.txt' ‸input", "to and a field"],
  ["hover ‸", "a target"],
  ["focus ‸", "a target"],
  ["clear ‸", "a target"],
  ["wait for ‸", "a time, a target, or an assertion"],
  ["wait for ‸5 hours", "a time such as 500ms or 2s"],
  ["wait for h1 ‸contans 'x'", "did you mean contains?"],
  ["scroll to ‸", "a target"],
  ["drag 'a' ‸'b'", "to and a target"],
  ["accept dialog with ‸", "a text in quotes"],
  ["dismiss dialog ‸twice", "the end of the step"],
  ["go back ‸twice", "the end of the step"],
  ["go forward ‸twice", "the end of the step"],
  ["reload ‸page", "the end of the step"],
  ["viewport ‸1x1", "a size from 50x50 to 4000x4000"],
  ["screenshot of ‸", "a target"],
  ["switch to tab ‸help", "the tab's number"],
  ["close tab ‸2", "the end of the step"],
  ["type 'x' into ‸", "a target"],
  ["mock ‸", "a URL pattern"],
  ["mock GET /x ‸500", "with and a status"],
  ["mock /x with ‸teapot", "a status from 200 to 599"],
  ["block ‸", "a URL pattern"],
  ["geolocation ‸91, 0", "a latitude and a longitude"],
  ["grant permission ‸'root'", "notifications"],
  ["time zone ‸'Mars/Base'", "a time zone such as"],
  ["locale ‸'_'", "a language tag"],
  ["clock at ‸'noon'", "a date and time"],
  ["fast forward ‸soon", "a time such as"],
  ["throttle cpu ‸99x", "a factor from 1x to 20x"],
  ["throttle network to ‸5g", "slow 3g, fast 3g, fast 4g"],
  ["save state ‸'../x'", "a name of letters"],
  ["use state ‸a/b", "a name of letters"],
  ["expect ‸", "an assertion"],
  ["expect h1 ‸contans 'x'", "did you mean contains?"],
];
