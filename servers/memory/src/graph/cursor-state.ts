/** A cursor's content, checked without zod, which the database thread would load only for this. */
type Checked<State> = { readonly success: true; readonly data: State } | { readonly success: false };

/** A check for objects with these keys, all of them whole numbers from 0. */
export function naturals<Key extends string>(...keys: readonly Key[]) {
  return {
    safeParse(value: unknown): Checked<Record<Key, number>> {
      const found = new Map(Object.entries(Object(value)));
      const isNatural = (key: Key) => Number.isSafeInteger(found.get(key)) && Number(found.get(key)) >= 0;
      if (!keys.every(isNatural)) return { success: false };
      // Each key was checked.
      return { success: true, data: Object.fromEntries(found) as Record<Key, number> };
    },
  };
}
