import "./settle.test.ts";
