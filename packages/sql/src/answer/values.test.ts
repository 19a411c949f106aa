import { expect, it } from "vitest";
import { describedValues, listedIn, looksConfidential, valueList, valuesText } from "./values.ts";

it("finds the list in a condition that allows nothing else", () => {
  const lists: [string, string[]][] = [
    ["status IN ('open', 'it''s', '(x)')", ["'open'", "'it''s'", "'(x)'"]],
    ["n = ANY (ARRAY['-1'::integer, 2])", ["'-1'", "2"]],
    [
      "status::text = ANY (ARRAY['a'::character varying, 'b, c'::character varying]::text[])",
      ["'a'", "'b, c'"],
    ],
    ["(status)::text = ANY ((ARRAY['a'::character varying])::text[])", []],
  ];
  for (const [condition, list] of lists) expect(listedIn(condition) ?? [], condition).toEqual(list);
  for (const other of [
    "lower(status) IN ('a', 'b')",
    "status NOT IN ('a')",
    "status IN ('a', other)",
    "status <> ALL (ARRAY['a'::text])",
  ])
    expect(listedIn(other), other).toBeUndefined();
});

it("is not slowed down by a hostile condition", () => {
  const long = `status IN (${"'a'::x ".repeat(20_000)}`;
  expect(listedIn(long)).toBeUndefined();
});

it("tells rules and values that rows have apart, within bounds", () => {
  expect(
    valuesText({ checks: ["CHECK (status IN ('a', 'b'))", "CHECK (length(status) > 0)"] }),
  ).toEqual({ type: "('a', 'b')", rest: "check (length(status) > 0)" });
  expect(valuesText({ seen: ["'a'", "'b'"] })).toEqual({ type: "", rest: "seen 'a', 'b'" });
  expect(valuesText({ domain: "integer CHECK (VALUE > 0)" }).type).toBe(
    "= integer CHECK (VALUE > 0)",
  );
  // A rule says more than what happens to be there.
  expect(describedValues({ allowed: ["'a'"], seen: ["'a'"] })).toEqual({ allowed: "'a'" });
  const many = Array.from({ length: 30 }, (_, n) => `'v${n}'`);
  expect(valueList(many)).toMatch(/^'v0', .*'v19', … 10 more$/);
  expect(valueList(many.slice(0, 20), 1_000)).toMatch(/'v19', … 980 more$/);
  expect(valueList(["x".repeat(100_000), "'b'"]).length).toBeLessThan(700);
  expect(
    valuesText({ checks: [`CHECK (${"x > 1 AND ".repeat(1_000)}true)`] }).rest.length,
  ).toBeLessThan(200);
});

it("knows names of confidential columns in any style", () => {
  for (const name of ["password", "userPassword", "API_KEY", "credit-card", "ssn", "password_hash"])
    expect(looksConfidential(name), name).toBe(true);
  for (const name of ["status", "passenger", "keyboard", "tokenizer"])
    expect(looksConfidential(name), name).toBe(false);
});
