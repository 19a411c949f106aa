import { type AnyNode, type Expression, parse, type VariableDeclarator } from "acorn";

/** The top-level variables of a JavaScript module. Nothing is run. */
export class ModuleLiterals {
  readonly #variables = new Map<string, Expression>();

  /** @throws SyntaxError if `source` is not an ECMAScript module. */
  constructor(source: string) {
    for (const statement of parse(source, { ecmaVersion: "latest", sourceType: "module" }).body) {
      const declaration =
        statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      if (declaration?.type === "VariableDeclaration") declaration.declarations.forEach(this.#keep);
    }
  }

  readonly #keep = ({ id, init }: VariableDeclarator): void => {
    if (id.type === "Identifier" && init) this.#variables.set(id.name, init);
  };

  /** The names of the variables whose initial value matches. */
  named(fits: (value: Expression) => boolean): string[] {
    return [...this.#variables].filter(([, value]) => fits(value)).map(([name]) => name);
  }

  /** The initial value of a variable, as in the source. */
  source(name: string): Expression | undefined {
    return this.#variables.get(name);
  }

  /** The value of a variable that is a literal, or an object or array of literals and other such variables. */
  value(name: string): unknown {
    const expression = this.#variables.get(name);
    if (expression === undefined) throw new TypeError(`there is no top-level variable ${name}`);
    return this.#evaluate(expression);
  }

  #evaluate(node: AnyNode): unknown {
    switch (node.type) {
      case "Literal":
        return node.value;
      case "TemplateLiteral":
        if (node.expressions.length > 0) break;
        return node.quasis.map(({ value }) => value.cooked).join("");
      case "UnaryExpression": {
        const value = this.#evaluate(node.argument);
        if (node.operator === "!") return !value;
        if (node.operator === "-" && typeof value === "number") return -value;
        break;
      }
      case "Identifier":
        return this.value(node.name);
      case "ArrayExpression":
        return node.elements.map((element) =>
          element === null ? undefined : this.#evaluate(element),
        );
      case "ObjectExpression":
        return Object.fromEntries(node.properties.map((property) => this.#entry(property)));
    }
    throw new TypeError(`${node.type} at offset ${node.start} is not a literal`);
  }

  #entry(property: AnyNode): [string, unknown] {
    if (property.type !== "Property" || property.kind !== "init") {
      throw new TypeError(`${property.type} at offset ${property.start} is not a plain property`);
    }
    const { key, computed } = property;
    const name = !computed && key.type === "Identifier" ? key.name : this.#evaluate(key);
    return [String(name), this.#evaluate(property.value)];
  }
}
