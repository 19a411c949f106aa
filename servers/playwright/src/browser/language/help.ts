/** The language reference for people and models; a test parses every example. */
export const GRAMMAR = `# Assertions

    ["expect"] ["not"] check ["within" 5s]

| checks | examples |
|---|---|
| the page | title is 'Docs' · title matches /^docs/i · url contains '/done' · status is 200 · status 2xx |
| a text | h1 contains 'Docs' · h1 is 'Docs' · h1 does not contain 'x' · first li matches /^\\d+/ |
| a state | button 'Save' is enabled · 'Saved' is visible · .spinner is hidden · #agree is not checked |
| existence | nav exists · link 'Old' does not exist |
| a property | label 'Email' has value 'a@b.c' · link 'Docs' has attribute 'href' contains '/x' · h1 has class 'big' · h1 has style 'color' 'rgb(0, 0, 0)' |
| a number | li count is 3 · count of li at least 2 |
| absence | no console errors · no console warnings · no page errors · no failed requests · no requests to **/ads/** · no broken images · no horizontal overflow · no mixed content · no a11y violations · no serious a11y violations in main · no .error |
| a structure | nav matches aria snapshot '- navigation "Main":\\n  - link "Docs"' |
| the network | request to **/api/items · request to POST /api/items contains 'Lamp' · response /api/items status is 200 · response /api/items contains 'Lamp' · console contains 'ready' |
| what it did | download 'report.csv' · download '*.pdf' · dialog message is 'Sure?' |
| quality | response time under 500ms · load time under 2s · fcp under 1s · lcp under 2.5s · cls under 0.1 · page weight under 2 MB |
| a picture | screenshot matches baseline 'home' · screenshot of main matches baseline 'home' within 1% masking .clock and .ad |

States: visible, hidden, enabled, disabled, checked, unchecked, editable, readonly, focused, empty, in viewport.
A check waits up to 5 s, or for the time after within. Checks that begin with no, and quality checks, run last, once the page
has settled: no request in progress, nothing about to run. Negative checks (not, hidden, disabled, unchecked, empty, does not
exist) and counts must then still hold; the step wait for only waits for them. Each sentence is one call of Playwright's \`expect\` or of a strict locator, as pw_export_spec prints it: a target
that matches several elements fails and lists them; only exists, count and no accept any number. A text
comparison needs an element, also with not. Patterns are RE2: no look-around, no back-references. White space counts as one
space. The value of a field is its value, not its text.

# Targets

    ["first" | "last" | "nth" 2] base ["containing" 'text'] ["in" target]

| base | examples |
|---|---|
| role and name | button 'Save' · link 'Docs' · heading 'News' · textbox 'Email' · alert · dialog |
| label, text, … | label 'Email' · text 'Hello' · placeholder 'Search' · alt 'Logo' · title 'Close' · testid 'row' |
| heading level | heading 'News' level 2 · heading level 1 |
| by its text | li containing 'Lamp' · button 'Add' in listitem containing 'Lamp' |
| the whole name | button exactly 'Save' · exactly 'Welcome' |
| in a frame | button 'Pay' in frame 'Payment' (the frame's title, name or id) |
| a text alone | 'Welcome' (for a field: its label or placeholder) |
| CSS | h1 · #main .item · \`li:nth-child(2) > a\` (backticks unless it is simple) |

A name matches part of the text, in any letter case; after exactly, the whole text. A word that is both a role and an HTML
element, such as dialog, option or table, is the role; \`dialog\` in backticks is the element.

# Steps

goto /login · click button 'Save' · double click first li · right click nth 2 li · fill label 'Email' with 'a@b.c' ·
fill 'Password' with secret 'PASSWORD' · type 'hello' · type 'ber' into 'City' · press Enter · press Control+A on 'Email' ·
check 'I agree' · uncheck 'I agree' · select 'Blue' in label 'Color' · upload 'notes.txt' to label 'File' · hover nav ·
focus 'Email' · clear 'Email' · wait for .spinner is hidden · wait for h1 · wait for request to /api/items ·
wait for network idle · wait for 500ms · scroll to footer · scroll to bottom · drag #card to #done · accept dialog ·
accept dialog with 'yes' · dismiss dialog · go back · go forward · reload · viewport 390x844 · screenshot ·
screenshot 'menu' of nav · expect h1 contains 'Docs' · expect download 'report.csv' · switch to new tab · switch to tab 1 ·
close tab · offline · online · fast forward 5m · save state 'admin' · use state 'admin' · mock GET /api/users with 500 ·
mock /api/users with '[]' · mock /api/users with 404 'gone' · mock /api/users with file 'users.json' · block **/ads/** ·
geolocation 52.52, 13.405 · grant permission 'notifications' · time zone 'Europe/Berlin' · locale 'de-DE' ·
clock at '2026-12-24T18:00:00Z' · throttle cpu 4x · throttle network to slow 3g

The steps from "use state" to the end of this list are setup steps: at the beginning of a script, they run before the page
is opened. time zone and locale are only allowed there. Network speeds: slow 3g, fast 3g, fast 4g. A saved state (cookies and
local storage) stays in the server's own folder. Put a dialog step before the step that opens the dialog; other dialogs are dismissed.
Downloads are kept as artifacts: 5 per run, 20 MiB each. A secret NAME is the server's environment variable PW_SECRET_NAME; its
value is never returned. Its field is not read, edited, copied or pictured: fill or clear it to change it. Files for upload and mocks must be below an allowed directory.
`;
