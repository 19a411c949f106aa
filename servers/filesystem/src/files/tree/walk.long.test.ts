// Larger sizes and more rows.
import "./walk.test.ts";
