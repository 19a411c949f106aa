// Larger sizes and more rows.
import "./read-text.test.ts";
