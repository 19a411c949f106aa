/** MathML (W3C MathML Core) as TeX, for formulas without their source. A symbol without a known command stays unchanged. */
import type { PageElement } from "./document.ts";

/** The TeX of an element. */
export function texOfMathml(element: PageElement): string {
  const name = nameOf(element);
  const kids = [...element.children];
  const part = (index: number): string =>
    kids[index] === undefined ? "" : texOfMathml(kids[index]);
  switch (name) {
    case "mi":
    case "mn":
    case "mo":
      // KaTeX writes operators with limits as elements in one.
      return kids.length > 0 ? row(kids) : identifier(element);
    case "ms":
    case "mtext":
      return words(element.textContent ?? "");
    case "mspace": {
      const width = Number.parseFloat(element.getAttribute("width") ?? "");
      return width >= 1 ? "\\quad" : width > 0.1 ? "\\," : "";
    }
    case "mfrac":
      return hasLine(element) ? `\\frac{${part(0)}}{${part(1)}}` : `{${part(0)} \\atop ${part(1)}}`;
    case "msqrt":
      return `\\sqrt{${row(kids)}}`;
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
    case "mtable":
      return environment(element);
    case "mtr":
      return kids.map(texOfMathml).join(" & ");
    case "mfenced":
      return [
        element.getAttribute("open") ?? "(",
        kids.map(texOfMathml).join(","),
        element.getAttribute("close") ?? ")",
      ].join("");
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

const signOf = (element: PageElement): string => (element.textContent ?? "").trim();

/** Parts one after another, with a space where a command would take a letter into its name. */
function joined(parts: readonly string[]): string {
  let text = "";
  for (const part of parts)
    text += /\\[a-z]+$/i.test(text.slice(-30)) && /^[a-z]/i.test(part) ? ` ${part}` : part;
  return text;
}

/** Text within a formula. */
function words(given: string): string {
  const text = given.replace(/\s+/g, " ");
  if (text.trim() === "") return text && "\\ ";
  return `\\text{${text.replace(/[{}#%&$_]/g, "\\$&")}}`;
}

/** As an argument: one character or command alone, anything else in braces. */
const argument = (tex: string): string =>
  /^(?:[^\\{}^_]|\\[a-z]+|\\.)$/iu.test(tex) ? tex : `{${tex}}`;
/** The same before a script, which belongs to all of a number or to a command with its arguments. */
const base = (tex: string): string =>
  /^(?:\\[a-z]+(?:\{[^{}]*\}){0,2}|\\?.|\d+|\\left(?!.*\\left).*\\right\W\w*)$/isu.test(tex)
    ? tex
    : `{${tex}}`;

function scripts(of: string, below: string, above: string): string {
  const under = below === "" ? "" : `_${argument(below)}`;
  if (/^'+$/.test(above)) return `${base(of)}${above}${under}`;
  return `${base(of)}${under}${above === "" ? "" : `^${argument(above)}`}`;
}

/** Accents over a base of more than one letter, and over one letter if that is another. */
const OVER = pairsOf(
  "¯ overline ˉ overline ‾ overline ^ widehat ˆ widehat ~ widetilde ˜ widetilde ˙ dot ¨ ddot → overrightarrow " +
    "⃗ overrightarrow ⏞ overbrace ˇ check ˘ breve",
);
const OVER_LETTER = pairsOf("overline bar widehat hat widetilde tilde overrightarrow vec");
const UNDER = pairsOf("⏟ underbrace _ underline ̲ underline ‾ underline");
/** What takes limits. */
const LIMITED =
  /^\\(?:sum|prod|coprod|big\w+|int|iint|iiint|oint|lim|limsup|liminf|max|min|sup|inf|arg\w*|det|gcd|Pr|overbrace|underbrace)(?![a-z])/i;

function limits(name: string, [inner, first, second]: readonly PageElement[]): string {
  if (inner === undefined || first === undefined) return "";
  const of = texOfMathml(inner);
  const accents = name === "mover" ? OVER : UNDER;
  const accent = name === "munderover" ? undefined : accents.get(signOf(first));
  if (accent !== undefined)
    return `\\${argument(of) === of ? (OVER_LETTER.get(accent) ?? accent) : accent}{${of}}`;
  const below = name === "mover" ? "" : texOfMathml(first);
  const over = name === "mover" ? first : second;
  const above = over === undefined ? "" : texOfMathml(over);
  if (LIMITED.test(of)) return scripts(of, below, above);
  const set = above === "" ? of : `\\overset{${above}}{${of}}`;
  return below === "" ? set : `\\underset{${below}}{${set}}`;
}

const DELIMITERS = pairsOf("{ \\{ } \\} ‖ \\| ∥ \\| ⟨ \\langle ⟩ \\rangle ∣ |");
const delimiter = (sign: string): string => (sign === "" ? "." : (DELIMITERS.get(sign) ?? sign));
/** Environments of tables between these delimiters. */
const MATRICES = pairsOf(
  "() pmatrix [] bmatrix {} Bmatrix || vmatrix ∣∣ vmatrix ‖‖ Vmatrix { cases",
);

/** Elements in a row; between two signs, a matrix or what grows with them. */
function row(kids: readonly PageElement[]): string {
  const shown = kids.filter((kid) => nameOf(kid) !== "mspace");
  const [first, last] = [shown[0], shown.length > 1 ? shown.at(-1) : undefined];
  if (first === undefined || nameOf(first) !== "mo") return joined(kids.map(texOfMathml));
  const isClosed = last !== undefined && nameOf(last) === "mo";
  const inner = shown.slice(1, isClosed ? -1 : undefined);
  const table = inner.length === 1 && inner[0] !== undefined ? tableIn(inner[0]) : undefined;
  const name = MATRICES.get(signOf(first) + (isClosed ? signOf(last) : ""));
  if (table !== undefined && name !== undefined) return environment(table, name);
  const isFence = (sign: PageElement): boolean =>
    sign.getAttribute("stretchy") !== "false" && sign.getAttribute("fence") === "true";
  if (!isClosed || !isFence(first) || !isFence(last)) return joined(kids.map(texOfMathml));
  const [open, close] = [delimiter(signOf(first)), delimiter(signOf(last))];
  return `${joined([`\\left${open}`, ...inner.map(texOfMathml)])} \\right${close}`;
}

/** A table, alone in rows and styles. */
function tableIn(element: PageElement): PageElement | undefined {
  const name = nameOf(element);
  if (name === "mtable") return element;
  const [only, ...others] = element.children;
  const isFrame = name === "mrow" || name === "mstyle" || name === "mpadded";
  return isFrame && only !== undefined && others.length === 0 ? tableIn(only) : undefined;
}

function environment(table: PageElement, given?: string): string {
  const isAligned = /^right left/.test(table.getAttribute("columnalign") ?? "");
  const name = given ?? (isAligned ? "aligned" : "matrix");
  const rows = [...table.children].map(texOfMathml).join(" \\\\ ");
  return `\\begin{${name}} ${rows} \\end{${name}}`;
}

const FUNCTIONS = new Set(
  (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min Pr " +
    "sec sin sinh sup tan tanh"
  ).split(" "),
);
/** Commands of MathML's variants. */
const VARIANTS = pairsOf(
  "normal mathrm bold mathbf bold-italic boldsymbol double-struck mathbb script mathcal fraktur mathfrak sans-serif mathsf monospace mathtt",
);

/** A name or sign: a function, a word, or symbols in a font. */
function identifier(element: PageElement): string {
  const name = (element.textContent ?? "").replace(/\s+/g, " ").trim();
  const variant = element.getAttribute("mathvariant");
  if (FUNCTIONS.has(name)) return `\\${name}`;
  const font = VARIANTS.get(variant ?? "");
  if (/^[a-z]{2,}$/i.test(name)) return `\\${font ?? "mathrm"}{${name}}`;
  const tex = joined([...name].map(symbol));
  const isPlain = variant === "normal" && !/^[a-z]$/i.test(name);
  return font === undefined || tex === "" || isPlain ? tex : `\\${font}{${tex}}`;
}

/** A symbol as a command; a letter of a mathematical alphabet as a plain one, if double-struck in that font. */
function symbol(sign: string): string {
  // Invisible operators.
  if (/[\u2061-\u2064]/.test(sign)) return "";
  if ("ℂℍℕℙℚℝℤ".includes(sign)) return `\\mathbb{${sign.normalize("NFKC")}}`;
  const code = sign.codePointAt(0) ?? 0;
  const plain = code >= 0x1d400 && code < 0x1d800 ? sign.normalize("NFKC") : sign;
  const command = COMMANDS.get(plain);
  return command === undefined ? (FORMS.get(plain) ?? plain) : `\\${command}`;
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
