/** What identifies an element of a page, as `survey` reads it. */
export interface Item {
  readonly tag: string;
  readonly role: string;
  /** What names it for a user: its label, alternative text or text. */
  readonly name: string;
  readonly text: string;
  /** The attributes that identify it; never its value. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The named or labelled elements around it, the nearest first: `dialog Settings`. */
  readonly around: readonly string[];
  readonly visible: boolean;
  /** CSS selectors that lead to it, one for each shadow root on the way. */
  readonly path: readonly string[];
}

/** An element, and all that the page had to offer: `role|name` of each element in the order of the page. */
export interface Surveyed {
  readonly item: Item | undefined;
  /** Its position in `keys`. */
  readonly at: number;
  readonly keys: readonly string[];
}

/**
 * Reads a page: the first of `elements`, and every element that a user or a test could mean. Runs in the page, and in
 * the user's own Playwright, so it uses nothing outside itself.
 *
 * @param wanted `all` also returns the items of all elements.
 */
export function survey(elements: readonly Element[], wanted: "keys" | "all") {
  // `seenSurvey` cuts them shorter, once secrets are removed: a beginning of one would not be recognized.
  const MAX_CHARS = 400;
  const MAX_ITEMS = wanted === "all" ? 1_500 : 250;
  const MAX_VISITED = 20_000;
  const IDENTIFYING =
    /^(?:id|name|type|href|src|alt|title|placeholder|for|aria-label|aria-controls|data-(?:test|testid|test-id|qa|cy))$/;
  const table = (pairs: string): Record<string, string> =>
    Object.fromEntries(pairs.split(" ").map((pair) => pair.split(":")));
  const INPUTS = table(
    "button:button submit:button reset:button image:button checkbox:checkbox radio:radio range:slider " +
      "number:spinbutton search:searchbox hidden: file: color: date: time:",
  );
  const TAGS = table(
    "button:button summary:button textarea:textbox h1:heading h2:heading h3:heading h4:heading h5:heading " +
      "h6:heading img:img li:listitem ul:list ol:list nav:navigation main:main dialog:dialog form:form " +
      "table:table tr:row td:cell th:columnheader option:option article:article section:region " +
      "aside:complementary header:banner footer:contentinfo fieldset:group p:paragraph progress:progressbar",
  );
  const NAMED_BY_TEXT =
    /^(?:button|link|heading|option|tab|menuitem\w*|checkbox|radio|switch|treeitem|cell|columnheader|row|listitem)$/;
  const flat = (text: string | null | undefined, max = MAX_CHARS) =>
    (text ?? "")
      .replace(/[\s\u200b]+/g, " ")
      .trim()
      .slice(0, max);
  const attribute = (one: Element, name: string) => flat(one.getAttribute(name));

  /** The beginning of an element's text, without reading all of a long one. */
  const textOf = (one: Element, max = MAX_CHARS): string => {
    const walker = one.ownerDocument.createTreeWalker(one, 4);
    let text = "";
    for (
      let node = walker.nextNode();
      node !== null && text.length < 2 * max;
      node = walker.nextNode()
    )
      if (!/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(node.parentElement?.tagName ?? ""))
        text += node.nodeValue;
    return flat(text, max);
  };
  const roleOf = (one: Element): string => {
    const [given = ""] = attribute(one, "role").split(" ");
    if (given !== "") return given;
    const tag = one.localName;
    if (tag === "a" || tag === "area") return one.hasAttribute("href") ? "link" : "";
    if (tag === "input") return INPUTS[attribute(one, "type").toLowerCase()] ?? "textbox";
    if (tag === "select") return one.hasAttribute("multiple") ? "listbox" : "combobox";
    return TAGS[tag] ?? "";
  };
  const labelOf = (one: Element): string => {
    const labels: unknown = Reflect.get(one, "labels");
    if (!(labels instanceof NodeList)) return "";
    return flat(
      [...labels].map((label) => (label instanceof Element ? textOf(label) : "")).join(" "),
    );
  };
  const nameOf = (one: Element, role: string): string => {
    const ids = attribute(one, "aria-labelledby").split(" ");
    const root = one.getRootNode();
    const by = ids.flatMap((id) => {
      const found =
        id !== "" && "getElementById" in root ? one.ownerDocument.getElementById(id) : null;
      return found === null ? [] : [textOf(found)];
    });
    if (by.length > 0) return flat(by.join(" "));
    const own = attribute(one, "aria-label") || labelOf(one) || attribute(one, "alt");
    if (own !== "") return own;
    if (one.localName === "input" && role === "button")
      return attribute(one, "value") || (attribute(one, "type") === "submit" ? "Submit" : "");
    if (NAMED_BY_TEXT.test(role)) {
      const image = one.querySelector("img[alt], [aria-label], svg title");
      const text = textOf(one);
      if (text !== "") return text;
      if (image !== null)
        return attribute(image, "alt") || attribute(image, "aria-label") || textOf(image);
    }
    if (role === "group" || role === "table")
      return textOf(one.querySelector("legend, caption") ?? one.ownerDocument.createElement("i"));
    return attribute(one, "title") || attribute(one, "placeholder");
  };
  const firstTextOf = (one: Element): string => {
    const walker = one.ownerDocument.createTreeWalker(one, 4);
    let node = walker.nextNode();
    while (node !== null && flat(node.nodeValue) === "") node = walker.nextNode();
    return flat(node?.nodeValue);
  };
  const parentOf = (one: Element): Element | null => {
    if (one.parentElement !== null) return one.parentElement;
    const root = one.getRootNode();
    return root instanceof ShadowRoot ? root.host : null;
  };
  const aroundOf = (one: Element): string[] => {
    const found: string[] = [];
    for (let up = parentOf(one); up !== null && found.length < 4; up = parentOf(up)) {
      const role = roleOf(up);
      if (/^(?:|paragraph|heading|button|link|group|cell)$/.test(role)) continue;
      const heading = /^(?:dialog|alertdialog|region|article|form)$/.test(role)
        ? up.querySelector("h1, h2, h3, h4, legend")
        : null;
      // A row is told by its first text: the rest names the buttons in it.
      const isRow = /^(?:row|listitem|treeitem|option)$/.test(role);
      const name = isRow
        ? firstTextOf(up)
        : nameOf(up, role) || (heading === null ? "" : textOf(heading));
      found.push(flat(`${role} ${name}`));
    }
    return found;
  };
  const pathOf = (one: Element): string[] => {
    const paths: string[] = [];
    let path = "";
    for (let at: Element | null = one; at !== null; at = parentOf(at)) {
      const parent: ParentNode | null =
        at.parentElement ?? (at.parentNode instanceof ShadowRoot ? at.parentNode : null);
      const position = parent === null ? 1 : [...parent.children].indexOf(at) + 1;
      path = `${at.localName.replace(/[^\w-]/g, "\\$&")}:nth-child(${position})${path === "" ? "" : ` > ${path}`}`;
      if (at.parentElement === null) {
        paths.unshift(path);
        path = "";
      }
    }
    return paths;
  };
  const isVisible = (one: Element) => {
    const { width, height } = one.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(one).visibility === "visible";
  };
  const itemOf = (one: Element): Item => {
    const role = roleOf(one);
    const kept = [...one.attributes].filter(({ name }) => IDENTIFYING.test(name));
    return {
      tag: one.localName,
      role,
      name: nameOf(one, role),
      text: textOf(one),
      attributes: Object.fromEntries(kept.map(({ name, value }) => [name, flat(value)])),
      around: aroundOf(one),
      visible: isVisible(one),
      path: pathOf(one),
    };
  };
  /** Whether a user or a test could mean it: it has a role, an identifier, or a text directly in it. */
  const isMeant = (one: Element) =>
    roleOf(one) !== "" ||
    [...one.attributes].some(
      ({ name }) => name === "id" || name.startsWith("data-t") || name.startsWith("data-q"),
    ) ||
    [...one.childNodes].some((node) => node.nodeType === 3 && flat(node.nodeValue) !== "");

  const found: Element[] = [];
  let visited = 0;
  const visit = (root: Node) => {
    const walker = document.createTreeWalker(root, 1);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      visited += 1;
      if (visited > MAX_VISITED || found.length >= MAX_ITEMS) return;
      if (
        !(node instanceof Element) ||
        /^(?:head|script|style|meta|link|title|body|html)$/.test(node.localName)
      )
        continue;
      if (isMeant(node)) found.push(node);
      if (node.shadowRoot !== null) visit(node.shadowRoot);
    }
  };
  visit(document);
  const [first] = elements;
  const keyOf = (one: Element) => {
    const role = roleOf(one);
    return `${role || one.localName}|${flat(nameOf(one, role) || textOf(one))}`;
  };
  return {
    item: first === undefined ? undefined : itemOf(first),
    at: first === undefined ? -1 : found.indexOf(first),
    keys: found.map(keyOf),
    items: wanted === "all" ? found.map(itemOf) : [],
  };
}

/** A survey without secrets, and its texts cut after that. */
export function seenSurvey(
  read: ReturnType<typeof survey>,
  see = (text: string) => text,
): typeof read {
  const cut = (text: string, max = 100) => see(text).slice(0, max).trim();
  const itemOf = (item: Item): Item => ({
    ...item,
    name: cut(item.name),
    text: cut(item.text),
    attributes: Object.fromEntries(
      Object.entries(item.attributes).map(([name, value]) => [name, cut(value)] as const),
    ),
    around: item.around.map((one) => cut(one, 80)),
  });
  const keyOf = (key: string) => {
    const at = key.indexOf("|") + 1;
    return key.slice(0, at) + cut(key.slice(at), 40);
  };
  return {
    ...{ at: read.at, keys: read.keys.map(keyOf), items: read.items.map(itemOf) },
    item: read.item === undefined ? undefined : itemOf(read.item),
  };
}

/** Whether `elements` are exactly the one at a path. Runs in the page. */
export function isOnlyOneAt(elements: readonly Element[], path: readonly string[]): boolean {
  let root: ParentNode = document;
  let found: Element | null = null;
  for (const part of path) {
    found = root.querySelector(`:scope > ${part}`) ?? root.querySelector(part);
    if (found === null) return false;
    root = found.shadowRoot ?? found;
  }
  return elements.length === 1 && elements[0] === found;
}
