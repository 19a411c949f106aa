// Written by `pnpm generate`.
import accessibilityReview from "./accessibility-review.ts";
import debugFailure from "./debug-failure.ts";
import writeTest from "./write-test.ts";

export const prompts = [accessibilityReview, debugFailure, writeTest];
