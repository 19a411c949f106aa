import "./surroundings.test.ts";
