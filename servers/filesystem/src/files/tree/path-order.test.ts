import { expect, it } from "vitest";
import { comparePaths, compareText, TopItems } from "./path-order.ts";

it("orders paths component by component, like a walk", () => {
  const ordered = ["a", "a/b", "a/b/c", "a/z", "a b", "a-b", "a.txt", "a\u{1f600}", "b"];
  expect([...ordered].reverse().sort(comparePaths)).toEqual(ordered);
  expect(comparePaths("a/b", "a/b")).toBe(0);
});

it("keeps the first of many in order, whatever the input order", () => {
  const numbers = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009);
  for (const count of [0, 1, 5, 999, 1000, 2000]) {
    const top = new TopItems<number>(count, (a, b) => a - b);
    for (const number of numbers) top.add(number);
    expect(top.take()).toEqual([...numbers].sort((a, b) => a - b).slice(0, count));
  }
  expect(["b", "B", "a", "ä"].sort(compareText)).toEqual(["B", "a", "b", "ä"]);
});
