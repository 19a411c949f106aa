// Larger sizes and more rows.
import "./edit.test.ts";
