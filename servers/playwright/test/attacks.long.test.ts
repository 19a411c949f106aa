import "./attacks.test.ts";
