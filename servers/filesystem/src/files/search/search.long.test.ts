// All patterns.
import "./search.test.ts";
