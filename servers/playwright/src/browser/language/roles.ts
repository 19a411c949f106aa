import type { Page } from "playwright";

/** An ARIA role by which Playwright finds elements. */
export type Role = Parameters<Page["getByRole"]>[0];

/** All of them (WAI-ARIA 1.2). */
export const ROLES: readonly string[] = (
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader " +
  "combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form " +
  "generic grid gridcell group heading img insertion link list listbox listitem log main marquee math meter " +
  "menu menubar menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation " +
  "progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider " +
  "spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer " +
  "toolbar tooltip tree treegrid treeitem"
).split(" ");
const ROLE_SET: ReadonlySet<string> = new Set(ROLES);

/** Whether a word is a role. */
export const isRole = (word: string): word is Role => ROLE_SET.has(word);
