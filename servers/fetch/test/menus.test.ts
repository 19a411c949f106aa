import { expect, test } from "vitest";
import { convertHtml } from "../src/page/convert/html.ts";

const MENU = `<nav>${"<a href=/x>Another department</a> ".repeat(100)}</nav>`;
const convert = (html: string) =>
  convertHtml({ html, url: "https://example.org/", includeLinks: false });

test("a large menu is left out of a page with little content", () => {
  const { text, extractor } = convert(
    `${MENU}<div>${"<b>Wool shoe</b> in grey, 90 dollars. ".repeat(8)}</div>`,
  );
  expect(text).toContain("in grey");
  expect(text).not.toContain("department");
  expect(extractor).toBe("page without navigation");
});

test("a page with all its content in a menu is returned whole", () => {
  const { text, extractor } = convert(`${MENU}<div>Welcome</div>`);
  expect(text).toContain("department");
  expect(extractor).toBe("whole page");
});
