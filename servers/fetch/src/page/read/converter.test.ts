import { expect, it, onTestFinished } from "vitest";
import { prose } from "../../../test/pages/write.ts";
import { Converter } from "./converter.ts";

const request = (html: string) =>
  ({ html, url: "https://mill.example/", includeLinks: true }) as const;
const page = (rest: string): string => `<main><p>${prose(6, 1)}</p>${rest}</main>`;

it("a short page does not wait for any of three long ones", async () => {
  const converter = new Converter();
  onTestFinished(() => converter.close());
  const { signal } = new AbortController();
  const ended: string[] = [];
  const convert = async (name: string, html: string) => {
    await converter.html(request(html), signal);
    ended.push(name);
  };
  // Starts the processes.
  await Promise.all([1, 2, 3].map(() => convert("first", page(""))));
  ended.length = 0;
  const long = page("<p>The river bends <b>here</b>, and the mill stands.</p>".repeat(6_500));
  await Promise.all([
    ...["long 1", "long 2", "long 3"].map((name) => convert(name, long)),
    convert("short", page("")),
  ]);
  expect(ended[0]).toBe("short");
});
