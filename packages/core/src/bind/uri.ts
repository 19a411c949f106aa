import { MAX_URI_CHARS } from "../protocol/messages.ts";

/** Matches URIs against a template (RFC 6570: `{x}`, `{+x}`, `{?x,y}`) and lists its variables. */
export interface UriMatcher {
  readonly variables: readonly string[];
  /** The percent-decoded values, or undefined if the URI does not match. */
  match(uri: string): Record<string, string> | undefined;
}

/**
 * Compiles a template. `{x}` matches one path segment, `{+x}` anything, `{?x,y}` optional query parameters in any
 * order.
 *
 * @throws TypeError for a template with another operator, which is not supported.
 */
export function compileTemplate(template: string): UriMatcher {
  const variables: string[] = [];
  const queryNames: string[] = [];
  let pattern = "";
  let rest = template;
  for (let found = /\{([^}]*)\}/.exec(rest); found !== null; found = /\{([^}]*)\}/.exec(rest)) {
    const expression = found[1] ?? "";
    pattern += escaped(rest.slice(0, found.index));
    if (expression.startsWith("?")) {
      const names = expression.slice(1).split(",");
      queryNames.push(...names);
    } else {
      const [, operator, name] = /^(\+?)(\w+)$/.exec(expression) ?? [];
      if (name === undefined)
        throw new TypeError(`Unknown expression {${expression}} in the URI template ${template}`);
      variables.push(name);
      pattern += operator === "+" ? "(.+)" : "([^/?#]+)";
    }
    rest = rest.slice(found.index + found[0].length);
  }
  const matcher = new RegExp(`^${pattern}${escaped(rest)}$`, "s");
  return {
    variables: [...variables, ...queryNames],
    match(uri) {
      if (uri.length > MAX_URI_CHARS) return undefined;
      const queryAt = queryNames.length === 0 ? -1 : uri.indexOf("?");
      const found = matcher.exec(queryAt === -1 ? uri : uri.slice(0, queryAt));
      if (found === null) return undefined;
      const values: Record<string, string> = {};
      for (const [index, name] of variables.entries()) {
        const value = decoded(found[index + 1] ?? "");
        if (value === undefined) return undefined;
        values[name] = value;
      }
      if (queryAt !== -1) {
        const query = new URLSearchParams(uri.slice(queryAt + 1));
        for (const name of queryNames) {
          const value = query.get(name);
          if (value !== null) values[name] = value;
        }
      }
      return values;
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Percent-decoded, or undefined for a broken encoding. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
