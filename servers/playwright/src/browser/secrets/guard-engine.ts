import { randomBytes } from "node:crypto";

/**
 * Keeps secrets from the checks: in the isolated world where Playwright reads a page, values and texts with a written
 * secret read as `[secret NAME]`. The world is reached through a selector engine, whose name a page cannot guess.
 */
export const ENGINE = `guard${randomBytes(8).toString("hex")}`;
/** Selectors of the engine contain the secrets; they are removed from messages and traces. */
export const GUARD_SELECTOR = new RegExp(`${ENGINE}=[0-9a-f]*`, "g");

/** What the engine does with its root, a document or an element. */
export interface Order {
  /**
   * `start` returns the root; `shown` the elements that hold or show a secret; `dragged` the same after deselecting;
   * `held` the root if it holds one; `focused` the focused field if it holds one. `note` remembers the values of fields, `changed` holds those that have others, and returns the root if they are unrecognizable pieces.
   */
  readonly do: "start" | "shown" | "dragged" | "held" | "focused" | "note" | "changed";
  /** The secret that `changed` is about. */
  readonly name?: string;
  /** Fails with `refused` if one of these attributes has a part of a secret; without them, if anything may have one. */
  readonly attributes?: readonly string[];
  readonly refused?: string;
}

/**
 * Runs in the page's isolated world, once for each document: a selector engine that makes Playwright's own code there
 * read `[secret NAME]`. The page's scripts have other prototypes, and see nothing of it.
 */
export function guardEngine(hiderFor: typeof hiderOf) {
  let hide = (text: string) => text;
  let known = "";
  let isOn = false;
  let isWritten = false;
  const held = new WeakMap<Node, string>();
  let hasHeldTexts = false;
  let noted = new WeakMap<Node, string>();
  /** Set once fields hold a secret in pieces too short to be recognized. */
  let pieces: string | undefined;
  /** The browser fills the fields of such a document with what they had before. */
  const isRestored = performance
    .getEntriesByType("navigation")
    .some((one) => one instanceof PerformanceNavigationTiming && /reload|back/.test(one.type));
  let justSet: unknown;

  /** Shorter pieces are found only with their neighbors. */
  const MIN_PART = 4;
  const COPIED = "svg[id], svg :is([id], defs, symbol, pattern, mask, clipPath, marker)";
  const MAX_PIECES_CHARS = 300;

  const getterOf = (prototype: object, key: string) =>
    Object.getOwnPropertyDescriptor(prototype, key)?.get ?? (() => undefined);
  const inputValue = getterOf(HTMLInputElement.prototype, "value");
  const areaValue = getterOf(HTMLTextAreaElement.prototype, "value");
  const textOf = getterOf(Node.prototype, "textContent");
  const nodeValueOf = getterOf(Node.prototype, "nodeValue");
  const attributeOf = Element.prototype.getAttribute;
  const computed = getComputedStyle;

  const isEditable = (node: unknown): node is HTMLElement =>
    node instanceof HTMLElement && node.isContentEditable;
  /** A field's value; undefined for other elements. */
  const fieldValue = (node: unknown): string | undefined => {
    if (node instanceof HTMLInputElement) return String(inputValue.call(node));
    if (node instanceof HTMLTextAreaElement) return String(areaValue.call(node));
    if (isEditable(node) && !isEditable(node.parentElement)) return String(textOf.call(node));
    return undefined;
  };
  const holdAs = (node: Node, instead: string) => {
    held.set(node, instead);
    if (!(node instanceof HTMLInputElement)) hasHeldTexts = true;
  };
  /** What replaces a field's value; undefined if it holds no secret. */
  const insteadOf = (node: Node): string | undefined => {
    const value = fieldValue(node);
    if (value === undefined || value === "") return undefined;
    // A field that was drawn again since.
    if (pieces !== undefined && value.length < MIN_PART && !noted.has(node)) holdAs(node, pieces);
    const clean = held.has(node) ? value : hide(value);
    // From now on it is held: the next key would leave another part in it.
    if (clean !== value) holdAs(node, /\[secret \w+\]/.exec(clean)?.[0] ?? "[secret]");
    return held.get(node);
  };
  /** What replaces a text inside a held field. */
  const aroundOf = (node: unknown): string | undefined => {
    if (!hasHeldTexts || !(node instanceof Node)) return undefined;
    for (let at: Node | null = node; at !== null; at = at.parentNode) {
      const instead = held.get(at);
      if (instead !== undefined) return instead;
    }
    return undefined;
  };

  const wrap = (
    prototype: object,
    keys: string,
    clean: (node: unknown, text: string) => string,
  ) => {
    for (const key of keys.split(" ")) {
      const found = Object.getOwnPropertyDescriptor(prototype, key);
      const { get, set, value } = found ?? {};
      const cleaned = (node: unknown, text: unknown) =>
        typeof text === "string" && text !== "" ? clean(node, text) : text;
      if (get !== undefined)
        Object.defineProperty(prototype, key, {
          ...found,
          get() {
            return cleaned(this, get.call(this));
          },
          ...(set === undefined
            ? {}
            : {
                set(given: unknown) {
                  // Playwright compares what it has just set.
                  justSet = this;
                  queueMicrotask(() => {
                    justSet = undefined;
                  });
                  set.call(this, given);
                },
              }),
        });
      else if (typeof value === "function")
        Object.defineProperty(prototype, key, {
          ...found,
          value(...given: unknown[]) {
            const isValue = given[0] === "value" && this instanceof Element;
            const instead = isValue ? insteadOf(this) : undefined;
            const text = value.apply(this, given);
            return instead !== undefined && typeof text === "string" && text !== ""
              ? instead
              : cleaned(this, text);
          },
        });
    }
  };
  const turnOn = () => {
    isOn = true;
    const field = (node: unknown, text: string) =>
      justSet === node || !(node instanceof Node) ? text : (insteadOf(node) ?? hide(text));
    const text = (node: unknown, own: string) => aroundOf(node) ?? hide(own);
    wrap(HTMLInputElement.prototype, "value defaultValue placeholder", field);
    wrap(HTMLTextAreaElement.prototype, "value defaultValue placeholder", field);
    wrap(Node.prototype, "nodeValue textContent", text);
    wrap(CharacterData.prototype, "data", text);
    wrap(HTMLElement.prototype, "innerText outerText", text);
    const attribute = (node: unknown, own: string) =>
      node instanceof Attr && node.name === "value" && node.ownerElement !== null
        ? field(node.ownerElement, own)
        : hide(own);
    wrap(Attr.prototype, "value", attribute);
    wrap(HTMLElement.prototype, "title", attribute);
    wrap(Element.prototype, "getAttribute id className innerHTML outerHTML", attribute);
    wrap(DOMTokenList.prototype, "toString value", attribute);
    wrap(CSSStyleDeclaration.prototype, "getPropertyValue", attribute);
    wrap(HTMLOptionElement.prototype, "text label value", attribute);
    wrap(HTMLSelectElement.prototype, "value", attribute);
    window.getComputedStyle = (element, pseudo) => {
      const own = computed.call(window, element, pseudo);
      if (!pseudo || !hasPart(own.content)) return own;
      return new Proxy(own, {
        get(_, key) {
          const value: unknown = Reflect.get(own, key);
          if (typeof value === "function") return value.bind(own);
          return typeof value === "string" ? hide(value) : value;
        },
      });
    };
  };

  /** All elements of a document or element, in open shadow roots as well. */
  const elementsOf = (root: ParentNode): Element[] =>
    [...root.querySelectorAll("*")].flatMap((one) =>
      one.shadowRoot === null ? [one] : [one, ...elementsOf(one.shadowRoot)],
    );
  const hasPart = (text: string | null | undefined) =>
    typeof text === "string" && hide(text) !== text;
  const attributeHasPart = (one: Element, name: string) => {
    const text = attributeOf.call(one, name);
    return (
      hasPart(text) ||
      (name === "value" && text !== null && text !== "" && insteadOf(one) !== undefined)
    );
  };
  /** Only after a secret was written: the styles of every element take time. */
  const generates = (one: Element) =>
    isWritten &&
    (["::before", "::after"].some((pseudo) => {
      const style = computed.call(window, one, pseudo);
      const { content } = style;
      if (content === "none" || content === "normal") return false;
      return (
        hasPart(content) || (/quote/.test(content) && hasPart(style.quotes)) || hasMarker(style)
      );
    }) ||
      hasMarker(computed.call(window, one)));
  const hasMarker = ({ display, listStyleType }: CSSStyleDeclaration) =>
    /list-item/.test(display) && hasPart(listStyleType);
  const textsIn = (node: ParentNode) =>
    [...node.childNodes].filter(({ nodeType }) => nodeType === 3);
  const shows = (one: Element) =>
    insteadOf(one) !== undefined ||
    held.has(one) ||
    one.getAttributeNames().some((name) => hasPart(attributeOf.call(one, name))) ||
    (!/^(?:script|style|title|noscript)$/i.test(one.localName) &&
      [one, ...(one.shadowRoot === null ? [] : [one.shadowRoot])].some((node) =>
        textsIn(node).some((text) => hasPart(nodeValueOf.call(text))),
      )) ||
    generates(one);

  /** Holds the smallest elements whose pieces of text, one after the other, are a part of a secret. */
  const holdPieces = (root: ParentNode) => {
    const around = new Set<Node>();
    for (const one of elementsOf(root))
      for (const text of textsIn(one)) {
        const length = nodeValueOf.call(text).trim().length;
        if (length === 0 || length >= MIN_PART) continue;
        let at: Element | null = one;
        for (let up = 0; up < 3 && at !== null && at !== document.body; up++) {
          around.add(at);
          at = at.parentElement;
        }
      }
    const joined = (node: Node) => String(textOf.call(node)).replace(/\s+/g, "");
    const found = [...around].filter((node) => {
      if (held.has(node) || String(textOf.call(node)).length > MAX_PIECES_CHARS) return false;
      const texts = node instanceof Element ? [node, ...elementsOf(node)].flatMap(textsIn) : [];
      return hasPart(joined(node)) && !texts.some((text) => hasPart(nodeValueOf.call(text)));
    });
    for (const node of found)
      if (!found.some((other) => other !== node && node.contains(other)))
        holdAs(node, /\[secret \w+\]/.exec(hide(joined(node)))?.[0] ?? "[secret]");
  };

  /** The smallest element around one whose box has all that one draws. */
  const coverOf = (one: Element): Element => {
    const range = document.createRange();
    const rects = [one, ...(one.shadowRoot === null ? [] : [one.shadowRoot])].flatMap((node) => {
      range.selectNodeContents(node);
      return [...range.getClientRects()];
    });
    // Generated texts have no rectangles. What SVG draws can be drawn again elsewhere.
    const isFree = generates(one) || one.closest(COPIED) !== null;
    let at: Element | null = one.closest("select") ?? one;
    const isCovered = ({ left, top, right, bottom }: DOMRect, by: DOMRect) =>
      left >= by.left - 1 && top >= by.top - 1 && right <= by.right + 1 && bottom <= by.bottom + 1;
    for (; at !== null && !isFree; at = at.parentElement) {
      const box = at.getBoundingClientRect();
      if (rects.every((rect) => isCovered(rect, box)) && (box.width > 0 || rects.length === 0))
        return at;
    }
    return document.documentElement;
  };

  const queryAll = (root: Document | Element, body: string): (Document | Element)[] => {
    const bytes = Uint8Array.from(body.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    const order: Order & { hidden: readonly Hidden[]; isWritten: boolean; pieces?: string } =
      JSON.parse(new TextDecoder().decode(bytes));
    const hidden = JSON.stringify(order.hidden);
    if (hidden !== known) hide = hiderFor(order.hidden);
    known = hidden;
    if (!isOn) turnOn();
    const instead = `[secret ${order.name}]`;
    if (isRestored) pieces ??= order.pieces;
    isWritten = order.isWritten;
    if (isWritten) holdPieces(root);
    switch (order.do) {
      case "start": {
        const { attributes, refused } = order;
        if (
          refused !== undefined &&
          (attributes === undefined
            ? isWritten || elementsOf(root).some(shows)
            : elementsOf(root).some((one) =>
                attributes.some((name) => attributeHasPart(one, name)),
              ))
        )
          throw new Error(refused);
        return [root];
      }
      case "dragged":
        document.getSelection()?.removeAllRanges();
        return [...(root instanceof Element ? [root] : []), ...elementsOf(root)].filter(shows);
      case "shown":
        return [...new Set(elementsOf(root).filter(shows).map(coverOf))];
      case "held":
        return insteadOf(root) === undefined ? [] : [root];
      case "focused": {
        let active = root.ownerDocument?.activeElement ?? document.activeElement;
        while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
        return active === null || insteadOf(active) === undefined ? [] : [active];
      }
      case "note":
        noted = new WeakMap(elementsOf(root).map((one) => [one, fieldValue(one) ?? ""]));
        return [];
      case "changed":
        for (const one of elementsOf(root)) {
          const value = fieldValue(one);
          if (value === undefined || value === "" || value === noted.get(one)) continue;
          if (!hasPart(value)) pieces = instead;
          holdAs(one, instead);
        }
        return pieces === undefined ? [] : [root];
    }
  };
  return {
    queryAll,
    query: (root: Document | Element, body: string) => queryAll(root, body)[0] ?? null,
  };
}

/** What to remove from texts after a secret was written. It is sent to the page's isolated world as JSON. */
export interface Hidden {
  /** The text that replaces it. */
  readonly instead: string;
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
        while (end > at && end < lower.length && parts.has(lower.slice(end - size + 1, end + 1)))
          end += 1;
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
      .map((piece) =>
        piece.isFixed ? piece.text : hiders.reduce((now, hide) => hide(now), piece.text),
      )
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
