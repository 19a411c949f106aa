import { REVISIONS } from "./revisions.ts";
import { serversSpeak } from "./speak.ts";

serversSpeak(REVISIONS);
