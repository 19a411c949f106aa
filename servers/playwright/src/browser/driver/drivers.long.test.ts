import "./drivers.test.ts";
