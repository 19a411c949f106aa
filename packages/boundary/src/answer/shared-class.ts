/**
 * Makes `instanceof` recognize the instances of every copy of a class in this process. Each server's bundle has its own copy of
 * this package, and `refmcp` runs the bundles of several servers.
 *
 * @param name the same in every copy, and unique
 */
export function shareAcrossBundles(
  sharedClass: { readonly prototype: object },
  name: string,
): void {
  const mark = Symbol.for(`refmcp.${name}`);
  Object.defineProperty(sharedClass.prototype, mark, { value: true });
  Object.defineProperty(sharedClass, Symbol.hasInstance, {
    value: (value: unknown) => typeof value === "object" && value !== null && mark in value,
  });
}
