import type { PageElement } from "./document.ts";

/**
 * TeX for MathML (W3C MathML Core). A symbol without a known command stays unchanged.
 */
export function texOfMathml(element: PageElement): string {
  const name = nameOf(element);
  const kids = [...element.children];
  const part = (index: number): string =>
    kids[index] === undefined ? "" : texOfMathml(kids[index]);
  const all = () => joined(kids.map(texOfMathml));
  switch (name) {
    case "mi":
    case "mn":
    case "mo":
      // KaTeX writes operators with limits as elements in one.
      if (kids.length > 0) return row(kids);
      return identifier(leafOf(element), element.getAttribute("mathvariant"));
    case "ms":
    case "mtext": {
      const text = leafOf(element).replace(/\s+/g, " ");
      return text.trim() === "" ? text && "\\ " : `\\text{${text.replace(/[{}#%&$_]/g, "\\$&")}}`;
    }
    case "mspace": {
      const width = Number.parseFloat(element.getAttribute("width") ?? "");
      return width >= 1 ? "\\quad" : width > 0.1 ? "\\," : "";
    }
    case "mfrac":
      return hasLine(element) ? `\\frac{${part(0)}}{${part(1)}}` : `{${part(0)} \\atop ${part(1)}}`;
    case "msqrt":
      return `\\sqrt{${all()}}`;
    case "mroot":
      return `\\sqrt[${part(1)}]{${part(0)}}`;
    case "msub":
      return scripts(part(0), part(1), "");
    case "msup":
      return scripts(part(0), "", part(1));
    case "msubsup":
      return scripts(part(0), part(1), part(2));
    case "munder":
    case "mover":
    case "munderover":
      return limits(name, kids);
    case "mmultiscripts":
      return multiscripts(kids);
    case "mfenced": {
      const separators = [...(element.getAttribute("separators") ?? ",").replace(/\s/g, "")];
      const inner = kids.map((kid, index) =>
        index === 0
          ? texOfMathml(kid)
          : `${separators[index - 1] ?? separators.at(-1) ?? ""}${texOfMathml(kid)}`,
      );
      const [open, close] = ["open", "close"].map((side) => element.getAttribute(side));
      return fenced(open ?? "(", joined(inner), close ?? ")");
    }
    case "menclose":
      return enclosed(element.getAttribute("notation") ?? "", all());
    case "mtable":
      return environment(element, kids);
    case "mtr":
    case "mlabeledtr":
      return kids
        .slice(name === "mtr" ? 0 : 1)
        .map(texOfMathml)
        .join(" & ");
    case "mphantom":
      return `\\phantom{${all()}}`;
    case "semantics":
    case "maction":
      return part(0);
    default:
      return row(kids);
  }
}

/** MathML's name of an element, without a prefix. */
const nameOf = ({ localName }: PageElement): string =>
  localName.toLowerCase().replace(/^(?:m:|mml:)/, "");

/** Whether a fraction has a line between its parts. */
const hasLine = (fraction: PageElement): boolean =>
  !/^0(?!\.?\d)/.test(fraction.getAttribute("linethickness") ?? "");

const leafOf = (element: PageElement): string => element.textContent ?? "";

/** Parts one after another, with a space where a command would take a letter into its name. */
function joined(parts: readonly string[]): string {
  let text = "";
  for (const part of parts)
    text += /\\[a-z]+$/i.test(text.slice(-30)) && /^[a-z]/i.test(part) ? ` ${part}` : part;
  return text;
}

/** As an argument: one character or command alone, anything else in braces. */
const argument = (tex: string): string =>
  /^(?:[^\\{}^_]|\\[a-z]+|\\.)$/iu.test(tex) ? tex : `{${tex}}`;
const base = (tex: string): string =>
  /^(?:\{\}|\\[a-z]+(?:\{[^{}]*\}){0,2}|\\?.|\d+|\\left(?!.*\\left).*\\right\W\w*)$/isu.test(tex)
    ? tex
    : `{${tex}}`;

function scripts(of: string, below: string, above: string): string {
  const under = below === "" ? "" : `_${argument(below)}`;
  if (/^'+$/.test(above)) return `${base(of)}${above}${under}`;
  return `${base(of)}${under}${above === "" ? "" : `^${argument(above)}`}`;
}

/** Accents, by the character over or under a base: for more than one letter, and for one if that is another. */
const OVER = pairsOf(
  "¯ overline ˉ overline ‾ overline ― overline – overline ^ widehat ˆ widehat ~ widetilde ˜ widetilde ˙ dot ¨ ddot → overrightarrow " +
    "⃗ overrightarrow ← overleftarrow ⏞ overbrace ˇ check ˘ breve ´ acute ` grave ˚ mathring",
);
const SHORT = pairsOf("overline bar widehat hat widetilde tilde overrightarrow vec");
const UNDER = pairsOf("⏟ underbrace _ underline ̲ underline ‾ underline");
/** What takes limits. */
const LIMITED =
  /^\\(?:sum|prod|coprod|big\w+|int|iint|iiint|oint|lim|limsup|liminf|max|min|sup|inf|arg\w*|det|gcd|Pr|overbrace|underbrace|operatorname\*?)(?![a-z])/i;

function limits(name: string, kids: readonly PageElement[]): string {
  const [inner, ...around] = kids;
  if (inner === undefined) return "";
  const of = texOfMathml(inner);
  const [first, second] = around;
  const under = name === "mover" ? undefined : first;
  const over = name === "mover" ? first : name === "munder" ? undefined : second;
  const [below, above] = [under, over].map((one) => (one === undefined ? "" : texOfMathml(one)));
  if (around.length === 1 && first !== undefined && nameOf(first) === "mo") {
    const long = (over === undefined ? UNDER : OVER).get(leafOf(first).trim());
    const command = argument(of) === of ? (SHORT.get(long ?? "") ?? long) : long;
    if (command !== undefined) return `\\${command}{${of}}`;
  }
  if (LIMITED.test(of)) return scripts(of, below ?? "", above ?? "");
  const arrow = /^\\(to|leftarrow)$/.exec(of)?.[1]?.replace("to", "rightarrow");
  if (arrow !== undefined) return `\\x${arrow}${below === "" ? "" : `[${below}]`}{${above}}`;
  const set = above === "" ? of : `\\overset{${above}}{${of}}`;
  return below === "" ? set : `\\underset{${below}}{${set}}`;
}

function multiscripts(kids: readonly PageElement[]): string {
  const [of, ...others] = kids;
  const at = others.findIndex((kid) => nameOf(kid) === "mprescripts");
  const [after, before] = at === -1 ? [others, []] : [others.slice(0, at), others.slice(at + 1)];
  const around = (start: string, list: readonly PageElement[]): string => {
    const every = (rest: number) =>
      joined(list.filter((_, index) => index % 2 === rest).map(texOfMathml));
    return list.length === 0 ? start : scripts(start, every(0), every(1));
  };
  return `${before.length === 0 ? "" : around("{}", before)}${around(of === undefined ? "" : texOfMathml(of), after)}`;
}

const DELIMITERS = pairsOf(
  "{ \\{ } \\} ‖ \\| ∥ \\| ⟨ \\langle ⟩ \\rangle 〈 \\langle 〉 \\rangle ∣ |",
);
const delimiter = (sign: string): string =>
  sign.trim() === "" ? "." : (DELIMITERS.get(sign.trim()) ?? symbols(sign));

function fenced(open: string, inner: string, close: string): string {
  return `${joined([`\\left${delimiter(open)}`, inner])} \\right${delimiter(close)}`;
}

/** Environments of tables between these delimiters. */
const MATRICES = pairsOf(
  "() pmatrix [] bmatrix {} Bmatrix || vmatrix ∣∣ vmatrix ‖‖ Vmatrix ∥∥ Vmatrix { cases",
);

function row(kids: readonly PageElement[]): string {
  const shown = kids.filter((kid) => nameOf(kid) !== "mspace");
  const [first, ...inner] = shown;
  const isSign = (one: PageElement | undefined): one is PageElement =>
    one !== undefined && nameOf(one) === "mo";
  const last = isSign(inner.at(-1)) ? inner.pop() : undefined;
  if (!isSign(first)) return joined(kids.map(texOfMathml));
  const [open, close] = [leafOf(first).trim(), last === undefined ? "" : leafOf(last).trim()];
  const [only] = inner;
  const table = only === undefined ? undefined : tableIn(only);
  const name =
    inner.length === 1 && table !== undefined ? MATRICES.get(`${open}${close}`) : undefined;
  if (name !== undefined && table !== undefined)
    return environment(table, [...table.children], name);
  const isFence = (one: PageElement): boolean =>
    one.getAttribute("stretchy") !== "false" && one.getAttribute("fence") === "true";
  if (last !== undefined && isFence(first) && isFence(last))
    return fenced(open, joined(inner.map(texOfMathml)), close);
  return joined(kids.map(texOfMathml));
}

/** A table, alone in rows and styles. */
function tableIn(element: PageElement): PageElement | undefined {
  const name = nameOf(element);
  if (name === "mtable") return element;
  const [only, ...others] = element.children;
  const isFrame = name === "mrow" || name === "mstyle" || name === "mpadded";
  return isFrame && only !== undefined && others.length === 0 ? tableIn(only) : undefined;
}

function environment(table: PageElement, rows: readonly PageElement[], given?: string): string {
  const isAligned = /^right left/.test(table.getAttribute("columnalign") ?? "");
  const name = given ?? (isAligned ? "aligned" : "matrix");
  return `\\begin{${name}} ${rows.map(texOfMathml).join(" \\\\ ")} \\end{${name}}`;
}

function enclosed(notation: string, inner: string): string {
  if (/box/.test(notation)) return `\\boxed{${inner}}`;
  if (/strike/.test(notation)) return `\\cancel{${inner}}`;
  const line = /^(?:top|bottom)$/.exec(notation)?.[0];
  return line === undefined ? inner : `\\${line === "top" ? "over" : "under"}line{${inner}}`;
}

const FUNCTIONS = new Set(
  (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min Pr " +
    "sec sin sinh sup tan tanh"
  ).split(" "),
);

function identifier(text: string, variant: string | null): string {
  const name = text.replace(/\s+/g, " ").trim();
  if (FUNCTIONS.has(name)) return `\\${name}`;
  if (/^lim (?:sup|inf)$/.test(name)) return `\\${name.replace(" ", "")}`;
  const isWord = /^[a-z]{2,}$/i.test(name);
  if (isWord) return `\\${VARIANTS.get(variant ?? "normal") ?? "mathrm"}{${name}}`;
  return symbols(text, variant !== "normal" || /^[a-z]$/i.test(name) ? variant : null);
}

/** Commands of MathML's variants. */
const VARIANTS = pairsOf(
  "normal mathrm bold mathbf bold-italic boldsymbol double-struck mathbb script mathcal fraktur mathfrak sans-serif mathsf monospace mathtt",
);
const GREEK = 0x1d6a8;
/** Unicode's alphabets in rows of the same length: the first character, the length and the fonts; an empty font is italic. */
const ALPHABETS: readonly (readonly [start: number, length: number, fonts: string])[] = [
  [0x1d7ce, 10, "mathbf"],
  [GREEK, 58, "mathbf,,boldsymbol,boldsymbol,boldsymbol"],
  [
    0x1d400,
    52,
    "mathbf,,boldsymbol,mathcal,mathcal,mathfrak,mathbb,mathfrak,mathsf,mathsf,mathsf,mathsf,mathtt",
  ],
];
/** The last letters of each Greek alphabet there. */
const GREEK_FORMS = [..."ϵϑϰϕϱϖ"];
const LETTERS: Readonly<Record<string, string>> = {
  mathbb: "ℂℍℕℙℚℝℤ",
  mathcal: "ℬℰℱℋℐℒℳℛℯℊℴ",
  mathfrak: "ℭℌℑℜℨ",
};

/** Symbols as commands, letters of mathematical alphabets as plain letters in their font. */
function symbols(text: string, variant?: string | null): string {
  const parts = [...text.replace(/\s+/g, " ").trim()].map((sign) => {
    const code = sign.codePointAt(0) ?? 0;
    const letter = Object.entries(LETTERS).find(([, letters]) => letters.includes(sign))?.[0];
    const [start = 0, length = 1, fonts = ""] = ALPHABETS.find(([first]) => first <= code) ?? [];
    const font = letter ?? fonts.split(",")[Math.floor((code - start) / length)];
    const form = start === GREEK ? GREEK_FORMS[((code - GREEK) % length) - 52] : undefined;
    const plain = form ?? (code >= 0x1d400 && code < 0x1d800 ? sign.normalize("NFKC") : sign);
    const shown = letter === undefined ? commandOf(plain) : sign.normalize("NFKC");
    return font ? `\\${font}{${shown}}` : shown;
  });
  const tex = joined(parts);
  const font = VARIANTS.get(variant ?? "");
  return font === undefined || tex === "" ? tex : `\\${font}{${tex}}`;
}

function commandOf(sign: string): string {
  const command = COMMANDS.get(sign);
  if (command !== undefined) return `\\${command}`;
  // Invisible operators.
  return /[\u2061-\u2064]/.test(sign) ? "" : (FORMS.get(sign) ?? sign);
}

/** Symbols and their commands. */
const COMMANDS = pairsOf(
  "α alpha β beta γ gamma δ delta ε varepsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi ο omicron π pi " +
    "ρ rho ς varsigma σ sigma τ tau υ upsilon φ varphi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi " +
    "Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ϵ epsilon ϕ phi ϑ vartheta ϱ varrho ϖ varpi ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint " +
    "∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⋁ bigvee ⋀ bigwedge ⨁ bigoplus ⨂ bigotimes ≤ leq ≥ geq ⩽ leqslant ⩾ geqslant ≠ neq " +
    "≈ approx ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ≺ prec ≻ succ ⪯ preceq ⪰ succeq ∈ in ∉ notin ∋ ni ⊂ subset " +
    "⊃ supset ⊆ subseteq ⊇ supseteq ⊊ subsetneq ∪ cup ∩ cap ∖ setminus ∅ emptyset ⌀ varnothing ± pm ∓ mp × times ÷ div " +
    "⋅ cdot ∗ ast ⋆ star ∘ circ ∙ bullet ⊕ oplus ⊖ ominus ⊗ otimes ⊙ odot ∧ wedge ∨ vee ¬ neg ⊥ perp ⊤ top ⊢ vdash ⊨ models " +
    "∥ parallel ∣ mid ∤ nmid → to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ⟶ longrightarrow " +
    "⟵ longleftarrow ⟹ Longrightarrow ⟺ iff ↦ mapsto ⟼ longmapsto ↪ hookrightarrow ↑ uparrow ↓ downarrow ⇀ rightharpoonup " +
    "⇌ rightleftharpoons ∞ infty ∂ partial ∇ nabla ∀ forall ∃ exists ∄ nexists ℓ ell ℏ hbar ℵ aleph ℘ wp ı imath ȷ jmath " +
    "∠ angle △ triangle □ square ∎ blacksquare … ldots ⋯ cdots ⋮ vdots ⋱ ddots ⟨ langle ⟩ rangle ⌈ lceil ⌉ rceil ⌊ lfloor " +
    "⌋ rfloor ‖ Vert ∴ therefore ∵ because † dagger ‡ ddagger { { } } # # % % & & $ $ _ _ \\ backslash ~ sim ^ hat{}",
);
/** Characters with a simpler form. */
const FORMS = pairsOf("− - ′ ' ″ '' ‴ ''' ℎ h");

/** Keys and values, separated by spaces. */
function pairsOf(words: string): Map<string, string> {
  return new Map(
    Array.from(words.matchAll(/(\S+) (\S+)/g), ([, key = "", value = ""]) => [key, value]),
  );
}
