/** What to remove from texts after a secret was written. It is sent to the page's isolated world as JSON. */
export interface Hidden {
  /** The text that replaces it. */
  readonly instead: string;
  /** Its forms, in lower case. */
  readonly forms: readonly string[];
  /** Characters in a row that count as a part of it. */
  readonly size: number;
  /** Parts that the model's own sentences or the page had before: they reveal nothing. */
  readonly known: readonly string[];
}

/** Parts of a secret have at least this many characters; of shorter secrets only the whole is removed. */
export const PART_CHARS = 4;

/**
 * Returns a function that removes secrets and their parts from a text, in any letter case.
 *
 * It also runs in the page, so it must not refer to anything outside itself.
 */
export function hiderOf(all: readonly Hidden[]): (text: string) => string {
  const hiders = all.map(({ instead, forms, size, known }) => {
    const parts = new Set<string>();
    for (const form of forms)
      for (let at = 0; at + size <= form.length; at++) parts.add(form.slice(at, at + size));
    const reveals = (run: string) =>
      forms.some((form) => run.includes(form)) || !known.some((one) => one.includes(run));
    return (text: string) => {
      const folded = text.toLowerCase();
      const lower = folded.length === text.length ? folded : text;
      let clean = "";
      let from = 0;
      for (let at = 0; at + size <= lower.length; ) {
        let end = at;
        if (parts.has(lower.slice(at, at + size))) end = at + size;
        while (end > at && end < lower.length && parts.has(lower.slice(end - size + 1, end + 1))) end += 1;
        if (end > at && reveals(lower.slice(at, end))) {
          clean += text.slice(from, at) + instead;
          from = end;
        }
        at = Math.max(end, at + 1);
      }
      return from === 0 ? text : clean + text.slice(from);
    };
  });
  return (text) => {
    // What already replaces a secret stays, even if a secret is part of it.
    let pieces = [{ text, isFixed: false }];
    for (const { instead } of all)
      pieces = pieces.flatMap((piece) =>
        piece.isFixed
          ? [piece]
          : piece.text.split(instead).flatMap((one, index) =>
              index === 0
                ? [{ text: one, isFixed: false }]
                : [
                    { text: instead, isFixed: true },
                    { text: one, isFixed: false },
                  ],
            ),
      );
    return pieces
      .map((piece) => (piece.isFixed ? piece.text : hiders.reduce((now, hide) => hide(now), piece.text)))
      .join("");
  };
}

/** The longest parts of a form that also occur in a known text; both in lower case. */
export function knownParts(forms: readonly string[], size: number, text: string): string[] {
  const found: string[] = [];
  for (const form of forms) {
    let reached = 0;
    for (let at = 0; at + size <= form.length; at++) {
      let end = at + size;
      if (end <= reached || !text.includes(form.slice(at, end))) continue;
      while (end < form.length && text.includes(form.slice(at, end + 1))) end += 1;
      found.push(form.slice(at, end));
      reached = end;
    }
  }
  return found;
}
