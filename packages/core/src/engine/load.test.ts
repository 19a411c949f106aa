import { expect, it } from "vitest";
import { Load } from "./load.ts";

it("looks at a few callers for each request, however many callers there are", () => {
  const rates = new Load({ perMinute: 600 }).rates;
  let looks = 0;
  // A time that counts how often it is compared.
  const at = (time: number) => {
    const counted: unknown = {
      valueOf: () => {
        looks += 1;
        return time;
      },
    };
    return counted as number;
  };
  for (let caller = 0; caller < 3_000; caller++) rates.retryAfter(`${caller}`, 1, at(caller));
  looks = 0;
  for (let caller = 0; caller < 100; caller++) rates.retryAfter(`${caller}`, 1, at(3_000));
  expect(looks).toBeLessThan(1_000);
});

it("forgets no caller that has made a request within a minute", () => {
  const rates = new Load({ perMinute: 10 }).rates;
  rates.retryAfter("early", 1, 0);
  for (let caller = 0; caller < 3_000; caller++) rates.retryAfter(`${caller}`, 1, 1_000);
  expect(rates.retryAfter("early", 1, 1_000)).toBeGreaterThan(0);
});
