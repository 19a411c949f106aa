// 100,000 files.
import "./many-files.test.ts";
