/** The language as people and models read it; a test reads every example. */
export const GRAMMAR = `# Assertions

    ["expect"] ["not"] check ["within" 5s]

| checks | examples |
|---|---|
| the page | title is 'Docs' · title matches /^docs/i · url contains '/done' · status is 200 · status 2xx |
| a text | h1 contains 'Docs' · h1 is 'Docs' · h1 does not contain 'x' · li matches /^\\d+/ |
| a state | button 'Save' is enabled · 'Saved' is visible · .spinner is hidden · #agree is not checked |
| existence | nav exists · link 'Old' does not exist |
| a property | label 'Email' has value 'a@b.c' · a has attribute 'href' contains '/x' · h1 has class 'big' · h1 has style 'color' 'rgb(0, 0, 0)' |
| a number | li count is 3 · count of li at least 2 |
| absence | no console errors · no console warnings · no page errors · no failed requests · no requests to **/ads/** · no broken images · no horizontal overflow · no mixed content · no a11y violations · no serious a11y violations in main · no .error |
| the network | request to **/api/items · response /api/items status is 200 · console contains 'ready' |
| quality | response time under 500ms · load time under 2s · fcp under 1s · lcp under 2.5s · cls under 0.1 · page weight under 2 MB |
| a picture | screenshot matches baseline 'home' · screenshot of main matches baseline 'home' within 1% masking .clock and .ad |

States: visible, hidden, enabled, disabled, checked, unchecked, editable, readonly, focused, empty, in viewport.
A check waits up to 5 s for what it says, or as long as within says. What begins with no, and quality, is looked at last,
when the page has settled. Of several elements that match one that fits is enough; what is negated must hold for all of
them, and for at least one. Patterns are RE2: no look-around, no back-references. White space counts as one space.

# Targets

    ["first" | "last" | "nth" 2] base ["in" target]

| base | examples |
|---|---|
| role and name | button 'Save' · link 'Docs' · heading 'News' · textbox 'Email' · alert |
| label, text, … | label 'Email' · text 'Hello' · placeholder 'Search' · alt 'Logo' · testid 'row' |
| a text alone | 'Welcome' (where a field is filled: its label or placeholder) |
| CSS | h1 · #main .item · \`li:nth-child(2) > a\` (backticks around what is not plain) |

# Steps

goto /login · click button 'Save' · double click li · right click li · fill label 'Email' with 'a@b.c' ·
fill 'Password' with secret 'PASSWORD' · type 'hello' · press Enter · press Control+A on 'Email' · check 'I agree' ·
uncheck 'I agree' · select 'Blue' in label 'Colour' · upload 'notes.txt' to label 'File' · hover nav · focus 'Email' ·
clear 'Email' · wait for .spinner is hidden · wait for h1 · wait for network idle · wait for 500ms · scroll to footer ·
scroll to bottom · drag #card to #done · accept dialog · accept dialog with 'yes' · dismiss dialog · go back · go forward ·
reload · viewport 390x844 · screenshot · screenshot 'menu' of nav · expect h1 contains 'Docs'

A dialog step stands before the step that opens the dialog; other dialogs are dismissed. A secret NAME is the server's
environment variable PW_SECRET_NAME; its value never comes back. Files for upload lie below an allowed directory.
`;
