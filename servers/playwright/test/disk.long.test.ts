import "./disk.test.ts";
