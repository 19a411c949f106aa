// Pages four times as large.
import "./hostile-pages.test.ts";
