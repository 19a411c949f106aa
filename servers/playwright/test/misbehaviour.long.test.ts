import "./misbehaviour.test.ts";
