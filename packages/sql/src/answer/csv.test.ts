import { describe, expect, it } from "vitest";
import { CsvReader, csvLine } from "./csv.ts";

/** Reads a file in pieces of this many bytes. */
function read(bytes: string | Uint8Array, { size = 1_000, delimiter = "," } = {}) {
  const reader = new CsvReader("x.csv", delimiter);
  const whole = Buffer.from(bytes);
  const records = [];
  for (let at = 0; at < whole.length; at += size)
    records.push(...reader.read(whole.subarray(at, at + size), at + size >= whole.length));
  return records;
}
const fieldsOf = (...args: Parameters<typeof read>) => read(...args).map(({ fields }) => fields);

it("distinguishes NULL from an empty string, and quotes what needs it", () => {
  expect(csvLine(["", null, undefined, true, 5n, -0.5])).toBe('"",,,true,5,-0.5\n');
  expect(csvLine([' "x" ', "a,b", "a;b", "c\nd", "e\rf", { a: ["é"] }])).toBe(
    '" ""x"" ","a,b",a;b,"c\nd","e\rf","{""a"":[""é""]}"\n',
  );
});

describe("a CSV file", () => {
  it("has the same records in pieces of any size", () => {
    const rows = [
      ["a", "b, \u{1f600}", "c"],
      [null, "", '"'],
      ["é\r\n\n", '""', " x "],
      ["1", null, null],
    ];
    for (const lineEnd of ["\n", "\r\n"]) {
      const text = `\ufeff${rows.map((row) => csvLine(row).replace(/\n$/, lineEnd)).join("")}`;
      for (let size = 1; size <= text.length + 4; size++) {
        expect(fieldsOf(text, { size }), `${JSON.stringify(lineEnd)} ${size}`).toEqual(rows);
        expect(fieldsOf(text.slice(0, -lineEnd.length), { size })).toEqual(rows);
      }
    }
  });

  it("may have another delimiter, and a carriage return inside a line", () => {
    const records = fieldsOf("a\tb\nx\ry\t1,2\n", { delimiter: "\t" });
    expect(records[1]).toEqual(["x\ry", "1,2"]);
  });

  it("is numbered by lines, also after line breaks in quotes and empty lines", () => {
    expect(read('a,b\n\n"1\n2",\n\n3,4').map(({ line }) => line)).toEqual([1, 4, 6]);
    expect(read("a\n1\n\n2\n")).toEqual([
      { fields: ["a"], line: 1 },
      { fields: ["1"], line: 2 },
      { fields: [null], line: 3 },
      { fields: ["2"], line: 4 },
    ]);
  });

  it.each([
    ["a,b\n1,2,3\n", /^"x\.csv" has 3 fields where the first line has 2, on line 2\.$/],
    ["a,b\n1\n", /has 1 field where .* on line 2/],
    ['a,b\n\n1,x"y"\n', /has a quote inside a field, on line 3/],
    ['a,b\n"1"2,3\n', /has a quote before other text, on line 2/],
    ['a,b\n1,"2\n3\n', /has a quote that is not closed, on line 2/],
    [Buffer.from("a,b\n1,2\nJosé,3\n", "latin1"), /is not UTF-8 text/],
    [Buffer.from("a\nJos\xe9", "latin1"), /is not UTF-8 text/],
  ])("that is invalid is refused with the line: %j", (text, message) => {
    for (const size of [1, 3, 1_000]) expect(() => read(text, { size })).toThrow(message);
  });

  it("is refused once a quote is open for 16 MiB", () => {
    const text = `a\n"${"x".repeat(24 * 1_048_576)}`;
    expect(() => read(text, { size: 4 * 1_048_576 })).toThrow(
      /perhaps a quote is not closed, on line 2/,
    );
  });
});
