// Larger sizes and more rows.
import "./thread-pool.test.ts";
