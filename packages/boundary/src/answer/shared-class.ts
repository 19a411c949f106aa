/**
 * Makes `instanceof` recognize the instances of every copy of a class in this process. Each server's bundle has its own copy of
 * this package, and `refmcp` runs the bundles of several servers.
 *
 * @param name the same in every copy, and unique
 */
export function shareAcrossBundles(target: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`refmcp.${name}`);
  Object.defineProperty(target.prototype, mark, { value: true });
  Object.defineProperty(target, Symbol.hasInstance, {
    value: (value: unknown) => typeof value === "object" && value !== null && mark in value,
  });
}
