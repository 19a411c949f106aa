// Written by `pnpm generate`.
import accessibilityReview from "./accessibility-review.ts";
import debugFailure from "./debug-failure.ts";
import planTests from "./plan-tests.ts";
import writeTest from "./write-test.ts";

export const prompts = [accessibilityReview, debugFailure, planTests, writeTest];
