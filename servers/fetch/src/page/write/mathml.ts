/**
 * MathML (W3C MathML Core) as TeX, for formulas that do not have their source next to them: fractions, roots, scripts, limits and
 * tables. A symbol without a known command stays unchanged.
 */
import type { PageElement } from "../content/document.ts";

/** The TeX of an element. */
export function texOfMathml(element: PageElement): string {
  const parts = Array.from(element.children, texOfMathml);
  const [first = "", second = "", third = ""] = parts;
  switch (nameOf(element)) {
    case "mi":
    case "mn":
    case "mo":
      // KaTeX writes operators with limits as elements in one.
      return parts.length > 0 ? joined(parts) : identifier(element);
    case "ms":
    case "mtext": {
      const text = (element.textContent ?? "").replace(/\s+/g, " ");
      return text.trim() === "" ? "" : `\\text{${text.replace(/[{}#%&$_]/g, "\\$&")}}`;
    }
    case "mfrac":
      return /^0(?!\.?\d)/.test(element.getAttribute("linethickness") ?? "")
        ? `{${first} \\atop ${second}}`
        : `\\frac{${first}}{${second}}`;
    case "msqrt":
      return `\\sqrt{${joined(parts)}}`;
    case "mroot":
      return `\\sqrt[${second}]{${first}}`;
    case "msub":
      return scripts(first, second, "");
    case "msup":
      return scripts(first, "", second);
    case "msubsup":
      return scripts(first, second, third);
    case "munder":
      return limits(first, second, "");
    case "mover":
      return ACCENTS.has(second) ? `\\${ACCENTS.get(second)}{${first}}` : limits(first, "", second);
    case "munderover":
      return limits(first, second, third);
    case "mfenced":
      return [
        element.getAttribute("open") ?? "(",
        parts.join(","),
        element.getAttribute("close") ?? ")",
      ].join("");
    case "mtable":
      return `\\begin{matrix} ${parts.join(" \\\\ ")} \\end{matrix}`;
    case "mtr":
      return parts.join(" & ");
    case "semantics":
    case "maction":
      return first;
    default:
      return joined(parts);
  }
}

/** MathML's name of an element, without a prefix. */
const nameOf = ({ localName }: PageElement): string =>
  localName.toLowerCase().replace(/^(?:m:|mml:)/, "");

/** Parts one after another, with a space where a command would take a letter into its name. */
function joined(parts: readonly string[]): string {
  let text = "";
  for (const part of parts)
    text += /\\[a-z]+$/i.test(text.slice(-30)) && /^[a-z]/i.test(part) ? ` ${part}` : part;
  return text;
}

/** One character, number or command alone; anything else, and a number as an argument, in braces. */
const argument = (tex: string): string =>
  /^(?:[^\\{}^_]|\\[a-z]+|\\.)$/iu.test(tex) ? tex : `{${tex}}`;
const base = (tex: string): string =>
  /^(?:\\[a-z]+(?:\{[^{}]*\}){0,2}|\d+)$/iu.test(tex) ? tex : argument(tex);

function scripts(of: string, below: string, above: string): string {
  const under = below === "" ? "" : `_${argument(below)}`;
  if (/^'+$/.test(above)) return `${base(of)}${above}${under}`;
  return `${base(of)}${under}${above === "" ? "" : `^${argument(above)}`}`;
}

/** Accents by the TeX of their signs. */
const ACCENTS = pairsOf(
  "¯ bar ˉ bar ‾ bar \\hat{} hat ˆ hat \\sim tilde ˜ tilde ˙ dot ¨ ddot \\to vec ⃗ vec ⏞ overbrace ˇ check ˘ breve",
);
/** What takes limits. */
const LIMITED =
  /^\\(?:sum|prod|coprod|big\w+|int|iint|iiint|oint|lim|limsup|liminf|max|min|sup|inf|arg\w*|det|gcd|Pr)(?![a-z])/i;

function limits(of: string, below: string, above: string): string {
  if (LIMITED.test(of)) return scripts(of, below, above);
  const over = above === "" ? of : `\\overset{${above}}{${of}}`;
  return below === "" ? over : `\\underset{${below}}{${over}}`;
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
  const font = VARIANTS.get(element.getAttribute("mathvariant") ?? "");
  if (FUNCTIONS.has(name)) return `\\${name}`;
  if (/^[a-z]{2,}$/i.test(name)) return `\\${font ?? "mathrm"}{${name}}`;
  const tex = joined([...name].map(symbol));
  return font === undefined || !/^[a-z\d]$/i.test(name) ? tex : `\\${font}{${tex}}`;
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
