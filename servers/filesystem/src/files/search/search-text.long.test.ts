// All patterns.
import "./search-text.test.ts";
