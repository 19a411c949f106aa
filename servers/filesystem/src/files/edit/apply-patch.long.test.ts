// Fifty random trees.
import "./apply-patch.test.ts";
